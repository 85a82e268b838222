//! The cells that the tasks of a `fork` read or change, and conflicts between the tasks. The module compares cells, and
//! reads no instructions.

use std::collections::{HashMap, HashSet};

use reviver_isa::instruction::Class;
use reviver_memory::ask;

use crate::allocation::AllocationPurpose;
use crate::state::Reference;
use crate::trap::{Cause, TaskArgument};

/// Cells of one class, and the task argument that refers to them.
#[derive(Clone, Copy)]
struct CellsOfTask {
    class: Class,
    cells: Reference,
    by: TaskArgument,
}

/// The cells that tasks touch, in the order of the tasks.
#[derive(Default)]
pub(super) struct TouchedByTasks {
    /// The number of tasks so far.
    tasks: u32,
    /// The call instruction of the latest task.
    site: u32,
    changed: Vec<CellsOfTask>,
    read: Vec<CellsOfTask>,
    /// The integer cells that determine which procedures are called with which arguments.
    call_inputs: HashSet<u32>,
}

impl TouchedByTasks {
    /// Adds an integer cell that determines which cells tasks touch.
    pub fn add_call_input(&mut self, cell: u32) {
        self.call_inputs.insert(cell);
    }

    /// Begins the next task, called by the instruction `site`.
    pub fn begin(&mut self, site: u32) {
        self.tasks = self.tasks.saturating_add(1);
        self.site = site;
    }

    /// Adds cells that the latest task touches, through an argument or by name.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub fn touch(
        &mut self,
        argument: Option<u32>,
        class: Class,
        cells: Reference,
        changes: bool,
    ) -> Result<(), Cause> {
        if cells.length == 0 {
            return Ok(());
        }
        let by = TaskArgument { task: self.tasks - 1, site: self.site, argument };
        let list = if changes { &mut self.changed } else { &mut self.read };
        ask::more(list, 1).map_err(|_| Cause::NoMemory(AllocationPurpose::Tasks))?;
        list.push(CellsOfTask { class, cells, by });
        Ok(())
    }

    /// Returns two tasks with a conflict: they share cells, and one of the two may change the shared cells. If a task
    /// may change an integer that determines which cells tasks touch, returns this task twice.
    ///
    /// # Errors
    /// Fails if there is no memory.
    pub fn conflict(&self) -> Result<Option<(TaskArgument, TaskArgument)>, Cause> {
        let mut owners: HashMap<(Class, u32), TaskArgument> = HashMap::new();
        for touched in &self.changed {
            ask::of_map(&mut owners, touched.cells.length as usize)
                .map_err(|_| Cause::NoMemory(AllocationPurpose::Tasks))?;
            for cell in touched.cells.cells() {
                if touched.class == Class::Int && self.call_inputs.contains(&cell) {
                    return Ok(Some((touched.by, TaskArgument { argument: None, ..touched.by })));
                }
                let owner = owners.entry((touched.class, cell)).or_insert(touched.by);
                if owner.task != touched.by.task {
                    return Ok(Some((*owner, touched.by)));
                }
            }
        }
        Ok(self.readers().into_iter().find_map(|(touched, other)| {
            let owned = touched.cells.cells().filter_map(|cell| owners.get(&(touched.class, cell)));
            let readers = || [Some(touched.by), other].into_iter().flatten();
            owned.filter_map(|owner| readers().find(|by| by.task != owner.task).map(|by| (*owner, by))).next()
        }))
    }

    /// Returns each range of cells that tasks only read, with the first task that reads the range, and a second such
    /// task if there is one.
    fn readers(&self) -> Vec<(CellsOfTask, Option<TaskArgument>)> {
        let mut numbers: HashMap<(Class, Reference), usize> = HashMap::new();
        let mut readers: Vec<(CellsOfTask, Option<TaskArgument>)> = Vec::new();
        for touched in &self.read {
            let number = *numbers.entry((touched.class, touched.cells)).or_insert(readers.len());
            match readers.get_mut(number) {
                Some((first, second)) if first.by.task != touched.by.task => {
                    second.get_or_insert(touched.by);
                }
                Some(_) => {}
                None => readers.push((*touched, None)),
            }
        }
        readers
    }
}
