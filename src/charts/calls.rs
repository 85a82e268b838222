//! Call statistics of a run: a tree of callers and callees, with the number of calls and steps of each. All recursive
//! calls of a procedure are counted in one line. So the program text limits the size of the tree, and the depth of the
//! recursion doesn't matter. Another crate draws the tree.

use std::sync::Arc;

use reviver_inspect::follow::RunObserver;
use reviver_isa::update::{OperandShape, Update};
use reviver_pictures::call_tree::CallLine;
use reviver_vm::state::CallRecord;
use reviver_vm::{Program, State, Travel};

/// Node of the call tree: all calls of one procedure from one caller, in one direction.
struct TalliedCall {
    procedure: usize,
    update: Option<Update>,
    calls: u64,
    /// Number of steps in the procedure itself, without the steps of its callees.
    own: u64,
    children: Vec<usize>,
}

/// Observer that counts calls while a program runs.
pub struct CallCounter {
    program: Arc<Program>,
    nodes: Vec<TalliedCall>,
    /// Indices in `nodes` of main's node and of the nodes of all open calls, from the outermost to the current call.
    path: Vec<usize>,
    last_step: i64,
}

impl CallCounter {
    pub fn new(program: Arc<Program>, state: &State) -> CallCounter {
        let main = TalliedCall { procedure: 0, update: None, calls: 1, own: 0, children: Vec::new() };
        CallCounter { program, nodes: vec![main], path: vec![0], last_step: state.step }
    }

    /// Returns the instructions at which calls begin and end.
    pub fn instructions(program: &Program) -> Vec<u32> {
        let leads = |shape: OperandShape| matches!(shape, OperandShape::Call | OperandShape::Boundary);
        let code = (0..).zip(&program.module().code);
        code.filter(|(_, i)| leads(i.update.shape())).map(|(at, _)| at).collect()
    }

    /// Returns the tree in preorder: a caller precedes its callees.
    pub fn lines(&self) -> Vec<CallLine> {
        let mut lines = Vec::new();
        let mut open = vec![(0, 0)];
        while let Some((n, depth)) = open.pop() {
            let Some(node) = self.nodes.get(n) else { continue };
            lines.push(CallLine {
                depth,
                name: self.name(node),
                calls: node.calls,
                steps: self.steps(n),
                own: node.own,
            });
            open.extend(node.children.iter().rev().map(|child| (*child, depth + 1)));
        }
        lines
    }

    fn name(&self, node: &TalliedCall) -> String {
        let procedure = self.program.module().procedures.get(node.procedure);
        let name = procedure.map_or("?", |procedure| procedure.name.as_str());
        match node.update {
            Some(update) => format!("{} {name}", update.name()),
            None => name.to_owned(),
        }
    }

    /// Returns the number of steps in a node and in all nodes below it.
    fn steps(&self, n: usize) -> u64 {
        let (mut sum, mut open) = (0, vec![n]);
        while let Some(node) = open.pop().and_then(|n| self.nodes.get(n)) {
            sum += node.own;
            open.extend(&node.children);
        }
        sum
    }

    /// Opens a call. If a call of the same procedure in the same direction is already open, the node of that call
    /// counts this call too.
    fn enter(&mut self, record: &CallRecord) {
        let procedure = self.program.executed(record).unwrap_or(0);
        let update = self.program.module().code.get(record.site as usize).map(|i| i.update);
        let is_same = |node: &TalliedCall| (node.procedure, node.update) == (procedure, update);
        let open = self.path.iter().copied().find(|n| self.nodes.get(*n).is_some_and(is_same));
        let caller = self.path.last().copied().unwrap_or(0);
        let known = || {
            let children = &self.nodes.get(caller)?.children;
            children.iter().copied().find(|n| self.nodes.get(*n).is_some_and(is_same))
        };
        let node = open.or_else(known).unwrap_or_else(|| {
            let new = self.nodes.len();
            self.nodes.push(TalliedCall { procedure, update, calls: 0, own: 0, children: Vec::new() });
            self.nodes.get_mut(caller).into_iter().for_each(|node| node.children.push(new));
            new
        });
        self.nodes.get_mut(node).into_iter().for_each(|node| node.calls += 1);
        self.path.push(node);
    }
}

impl RunObserver for CallCounter {
    fn look(&mut self, state: &State, _: Travel, _: Option<u32>) {
        let made = state.step.abs_diff(self.last_step);
        self.last_step = state.step;
        let here = self.path.last().and_then(|n| self.nodes.get_mut(*n));
        here.into_iter().for_each(|node| node.own += made);
        self.path.truncate(state.calls.len() + 1);
        for record in state.calls.iter().skip(self.path.len() - 1) {
            self.enter(record);
        }
    }
}
