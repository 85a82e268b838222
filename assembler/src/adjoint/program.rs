//! The construction of derived programs, and the parts of an adjoint program: its header, its declarations, the primal
//! part, the seed, the reverse part, and the adjoint procedures.

use std::collections::{BTreeSet, HashMap};

use compact_str::CompactString;
use reviver_isa::function::Function;
use reviver_isa::instruction::Class;
use reviver_isa::module::Role;
use reviver_isa::update::Update;

use super::declarations::{declaration, globals, tolerance};
use super::emitter::Emitter;
use super::request::{AdjointRequest, CellSeed, Derived, DroppedAdjoints};
use super::stacks::{self, DropPlace, UsedStores};
use super::varied::{Definitions, INPUT_TAPE, varied};
use crate::build;
use crate::definitions::ProgramNames;
use crate::diagnostic::{Diagnostic, in_order};
use crate::files::Files;
use crate::format::{print_with, spelled};
use crate::fresh::FreshNames;
use crate::include::{Loaded, include};
use crate::invert::{invert_body, program as inverse};
use crate::source::{FileId, Span};
use crate::tree::{
    Body, DeclarationNode, Directive, Expression, ExpressionKind, Local, ShapeNode, Statement, StatementNode,
    Subscript,
};
use crate::visit;

/// Returns the adjoint program or the tangent program of a loaded program, with the suffix of the names of adjoints or
/// tangents. `new_name` is the name of the file for the new program.
pub(super) fn derived_program(
    loaded: &mut Loaded,
    derived: Derived<'_>,
    new_name: &str,
    files: &dyn Files,
) -> Result<(Body, String), Vec<Diagnostic>> {
    loaded.state_classes();
    let mut stay = crate::invert::file::staying(loaded);
    let texts = loaded.sources.files().map(|file| loaded.sources.file_text(file).to_owned());
    let trees = loaded.trees().filter(|_| loaded.is_replaced || loaded.has_history);
    let texts: Vec<String> = texts.chain(trees.map(|(_, tree)| print_with(&loaded.sources, tree))).collect();
    let mut fresh = FreshNames::of(texts.iter().map(String::as_str), derived.mode().suffix());
    let ProgramNames { mut names, procedures, macros } =
        ProgramNames::of(loaded.trees().map(|(_, tree)| tree));
    let included = included(loaded);
    let texts: Vec<(FileId, Body)> = loaded.trees().map(|(file, tree)| (file, tree.clone())).collect();
    // The text of a file that moves reals to the stack changes.
    stay.retain(|file| {
        let own = texts.iter().filter(|(other, _)| other == file).map(|(_, tree)| tree.clone());
        !UsedStores::of(&names, &own.collect::<Vec<_>>()).stack
    });
    let bodies: Vec<Body> = texts.into_iter().map(|(_, tree)| tree).collect();
    let stores = UsedStores::of(&names, &bodies);
    let definitions = Definitions { procedures: &procedures, macros: &macros };
    let (inputs, dropped) = match derived {
        Derived::Gradient(request) => {
            // The values of the input tape are inputs, too.
            (inputs(&bodies).chain([INPUT_TAPE.into()]).collect(), request.dropped)
        }
        Derived::Tangents(request) => {
            (request.inputs.iter().map(Into::into).collect(), DroppedAdjoints::default())
        }
    };
    let varied = varied(&names, &bodies, definitions, inputs);
    names.set_varied(varied);
    let body = loaded.splice(&stay);
    let zero = stores.stack.then(|| fresh.fresh("zero"));
    let drops = DropPlace::of(dropped, stores);
    let program = ProgramNames { names, procedures, macros };
    let sources = std::mem::take(&mut loaded.sources);
    let mut emitter = Emitter {
        included,
        tape_derivatives: drops.tape_derivatives(stores),
        ..Emitter::new(sources, derived.mode(), fresh, program, drops)
    };
    let mut made = match derived {
        Derived::Gradient(request) => emitter.gradient_program(&body, request, zero.as_deref()),
        Derived::Tangents(request) => {
            let mut made = emitter.tangent_program(&body, request);
            if stores.stack {
                stacks::double_limits(&mut made);
            }
            made
        }
    };
    let suffix = emitter.fresh.adjoint("").into_string();
    let Emitter { sources, mut diagnostics, .. } = emitter;
    loaded.sources = sources;
    if !diagnostics.is_empty() {
        in_order(&mut diagnostics);
        return Err(diagnostics);
    }
    crate::invert::file::redirect(&mut made, loaded, new_name, files);
    Ok((made, suffix))
}

impl Emitter {
    /// Returns the adjoint program. `zero` is the name for a private 0, if the program has reals on the stack.
    fn gradient_program(&mut self, body: &Body, request: &AdjointRequest, zero: Option<&str>) -> Body {
        self.refuse_adjoints(body);
        let (header, body) = inverse::split_header(body);
        let mut text = body.to_vec();
        if let Some(zero) = zero {
            stacks::pair(&self.names, &mut text, zero);
            stacks::double_limits(&mut text);
        }
        let mut made = self.header(header, &self.gradient_lines(request));
        self.primal_part(&text, &mut made);
        let mut primal = executed(body);
        let turned = [(&mut made, executed(&text)), (&mut primal, executed(body))];
        for (statements, text) in turned {
            if let Some((last, rest)) = flattened(&text, request.early_uncomputes) {
                splice(statements, last, rest);
            }
        }
        while made.last().is_some_and(StatementNode::is_blank) {
            made.pop();
        }
        self.seed(request, &mut made);
        self.reverse(&primal, &mut made);
        let variants = self.write_variants();
        made.extend(variants);
        let helpers = self.adjoint_cells(body, zero, &made);
        insert_helpers(helpers, &mut made);
        made
    }

    /// Returns the name of the original without its folder, for the comment at the beginning.
    pub(super) fn origin(&self) -> String {
        let name = self.sources.name(FileId(0));
        let name = name.rsplit(['/', std::path::MAIN_SEPARATOR]).next().unwrap_or(name);
        name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
    }

    /// Returns the lines that describe a gradient program.
    fn gradient_lines(&self, request: &AdjointRequest) -> Vec<String> {
        let x = self.fresh.adjoint("x");
        let subject = match request.seeds.as_slice() {
            [one] => format!("`{}`", spelled(&cell(&one.name, one))),
            _ => "a weighted sum".to_owned(),
        };
        let origin = self.origin();
        let mut lines = vec![
            format!(
                " The gradient of {subject}, by a reverse sweep. Made from {origin} by `reviver grad --emit`."
            ),
            format!(" The result `{x}` is the derivative by the input `x`; `reviver run` computes it."),
        ];
        if self.tape_derivatives.is_some() {
            lines.push(
                " The output tape gets the derivatives by the values of the input tape, that of the last value first."
                    .to_owned(),
            );
        }
        lines
    }

    /// Returns the comments at the beginning: the lines that describe the program, and the comments of the original.
    pub(super) fn header(&self, original: &[StatementNode], lines: &[String]) -> Body {
        let mut header: Body = lines.iter().map(|line| build::heading(line)).collect();
        let original = inverse::header_of_inverse(original);
        if !original.is_empty() {
            header.push(build::heading(""));
        }
        header.extend(original);
        header.push(build::blank());
        header
    }

    /// Appends the program's declarations, with those of adjoints, and its statements.
    fn primal_part(&mut self, text: &[StatementNode], made: &mut Body) {
        let is_inverse = text.iter().any(inverse::is_mark);
        for node in text.iter().filter(|node| !inverse::is_record(node) && !inverse::is_mark(node)) {
            match &node.statement {
                Statement::Directive(Directive::Globals { role, declarations }) => {
                    let role = if is_inverse && *role == Role::Garbage { Role::In } else { *role };
                    self.globals((node, role), declarations, made);
                }
                Statement::Directive(Directive::Ancillas(declarations)) => {
                    made.push(node.clone());
                    self.garbage_adjoints(declarations, made);
                }
                Statement::Directive(Directive::Include { path_span, .. }) => {
                    made.push(node.clone());
                    self.included(*path_span, made);
                }
                _ => made.push(node.clone()),
            }
        }
    }

    /// Returns the declarations of the tolerance, of the adjoints of registers, of the private 0 and of the dropped
    /// adjoints.
    fn adjoint_cells(&mut self, body: &[StatementNode], zero: Option<&str>, made: &Body) -> Body {
        let mut helpers: Body = tolerance(body).into_iter().collect();
        helpers.extend(self.register_cells(made, Role::Garbage));
        if let Some(zero) = zero {
            let declaration = declaration(zero, ShapeNode::Lengths(Vec::new()));
            helpers.push(globals(
                Role::Private,
                vec![declaration],
                " the adjoints of reals on the stack, in the primal part",
            ));
        }
        if self.has_dropped {
            match self.drops {
                DropPlace::Stack => {
                    let declaration = declaration(&self.fresh.fresh("dropped"), ShapeNode::Stack);
                    helpers.push(globals(Role::Garbage, vec![declaration], " the adjoints of cells that became vacant"));
                }
                DropPlace::None => self.refuse(
                    body.first().map_or(Span::default(), |node| node.span),
                    "the program uses the stack of reals and the output tape, so neither can keep dropped adjoints",
                    "in this program",
                    "erase dropped adjoints, by `--drop erase`",
                ),
                DropPlace::Output | DropPlace::Array | DropPlace::Erased => {}
            }
        }
        helpers
    }

    /// Returns the declaration of the adjoints or tangents of registers, which get this role.
    pub(super) fn register_cells(&self, made: &Body, role: Role) -> Option<StatementNode> {
        let registers = self.real_registers(made);
        let adjoint = |name| declaration(&self.fresh.adjoint(name), ShapeNode::Lengths(Vec::new()));
        let comment = format!(" the {}s of registers", self.mode.noun());
        let adjoints: Vec<_> = registers.iter().map(|name| adjoint(name)).collect();
        (!adjoints.is_empty()).then(|| globals(role, adjoints, &comment))
    }

    /// Returns the registers of reals that statements name.
    pub(super) fn real_registers(&self, body: &Body) -> BTreeSet<CompactString> {
        let mut found = BTreeSet::new();
        let mut visit = |body: &Body| {
            visit::statements(body, &mut |statement| {
                visit::expressions(statement, &mut |expression| {
                    if let ExpressionKind::Name { name, .. } = &expression.kind
                        && self.names.is_real_register(name)
                    {
                        found.insert((**name).clone());
                    }
                });
            });
        };
        visit(body);
        self.included.values().for_each(visit);
        found
    }

    /// Reports names of adjoints outside of rules. A program that switches gradient mode has none any more.
    pub(super) fn refuse_adjoints(&mut self, body: &Body) {
        let rules: Vec<_> = self.procedures.values().flat_map(|it| it.rules().cloned()).collect();
        let is_rule = |name: &str| rules.iter().any(|rule| rule.text == name);
        let mut places = Vec::new();
        for node in body {
            if matches!(&node.statement, Statement::Procedure(tree) if is_rule(&tree.name.text)) {
                continue;
            }
            visit::statements(std::slice::from_ref(node), &mut |statement| {
                visit::expressions(statement, &mut |expression| {
                    places.extend(names_adjoint(expression).then_some(expression.span));
                });
            });
        }
        for place in places {
            self.refuse(
                place,
                "an adjoint is named outside of a rule, and the program doesn't switch gradient mode",
                "has a value only in a reverse sweep from outside",
                "name adjoints in rules, or between `grad.on` and `grad.off`",
            );
        }
    }

    /// Appends the adjoints of the globals that an included file declares.
    fn included(&mut self, place: Span, made: &mut Body) {
        for node in self.included.get(&place).cloned().unwrap_or_default() {
            if let Statement::Directive(
                Directive::Globals { declarations, .. } | Directive::Ancillas(declarations),
            ) = &node.statement
            {
                self.garbage_adjoints(declarations, made);
            }
        }
    }

    /// Reports a stack whose reals are inputs.
    pub(super) fn refuse_given_stack(&mut self, role: Role, declarations: &[DeclarationNode]) {
        let is_given_stack = |it: &&DeclarationNode| {
            role.is_given() && it.class == Some(Class::Real) && matches!(it.shape, ShapeNode::Stack)
        };
        if let Some(stack) = declarations.iter().find(is_given_stack) {
            self.refuse(
                stack.name.span,
                "the derivatives by reals on a stack can't be written as a program",
                "a stack of inputs",
                "declare an array instead of the stack",
            );
        }
    }

    /// Appends the declarations of globals and of their adjoints.
    fn globals(
        &mut self,
        (node, role): (&StatementNode, Role),
        declarations: &[DeclarationNode],
        made: &mut Body,
    ) {
        self.refuse_given_stack(role, declarations);
        let primal = if role.is_given() { Role::InOut } else { Role::Private };
        let mut own = declarations.to_vec();
        if !role.is_given() {
            own.iter_mut().for_each(|declaration| declaration.default = None);
        }
        let statement = Statement::Directive(Directive::Globals { role: primal, declarations: own });
        made.push(StatementNode { comment: node.comment.clone(), ..build::node(statement) });
        let adjoints = self.adjoint_declarations(declarations);
        if !adjoints.is_empty() {
            let role = if role.is_given() { Role::Out } else { Role::Garbage };
            made.push(globals(role, adjoints, ""));
        }
    }

    /// Returns the declarations of the adjoints or tangents of the reals among declared cells. Stacks have none.
    pub(super) fn adjoint_declarations(&self, declarations: &[DeclarationNode]) -> Vec<DeclarationNode> {
        let is_real = |it: &&DeclarationNode| {
            it.class == Some(Class::Real) && matches!(it.shape, ShapeNode::Lengths(_))
        };
        declarations.iter().filter(is_real).map(|it| self.adjoint_declaration(it)).collect()
    }

    /// Appends the adjoints of private cells, such as variables of main's frame. They are garbage, and exist during the
    /// whole program.
    fn garbage_adjoints(&mut self, declarations: &[DeclarationNode], made: &mut Body) {
        let reals = declarations.iter().filter(|declaration| declaration.class == Some(Class::Real));
        let adjoints: Vec<DeclarationNode> = reals.map(|it| self.adjoint_declaration(it)).collect();
        if !adjoints.is_empty() {
            made.push(globals(Role::Garbage, adjoints, ""));
        }
    }

    /// Appends the seed, and a copy of the value of a single cell.
    fn seed(&mut self, request: &AdjointRequest, made: &mut Body) {
        made.extend([build::blank(), build::heading(" The value and the seed.")]);
        let seeds = &request.seeds;
        let mut statements = Body::new();
        if let [one] = seeds.as_slice() {
            let name = self.fresh.fresh(&format!("{}_value", one.name));
            let value = declaration(&name, ShapeNode::Lengths(Vec::new()));
            made.push(globals(Role::Out, vec![value], ""));
            let cells = vec![build::cell(&name), cell(&one.name, one)];
            statements.push(build::update(Update::Add, Function::Copy, cells));
        }
        for seed in seeds {
            let adjoint = cell(&self.fresh.adjoint(&seed.name), seed);
            let (update, size) =
                if seed.seed < 0.0 { (Update::Sub, -seed.seed) } else { (Update::Add, seed.seed) };
            let literal = if size == 1.0 { build::int(1) } else { build::real(size) };
            statements.push(build::update(update, Function::Copy, vec![adjoint, literal]));
        }
        made.extend(statements);
    }

    /// Opens the adjoints of the locals that are open at the end of the primal part.
    fn open_adjoints(&mut self, primal: &Body, made: &mut Body) {
        let mut open: Vec<&Local> = Vec::new();
        for node in primal {
            match &node.statement {
                Statement::Local(local) => open.push(local),
                Statement::Delocal(local) => open.retain(|other| other.name.text != local.name.text),
                _ => {}
            }
        }
        for local in open {
            made.extend(self.open_adjoint(local));
        }
    }

    /// Appends the reverse part: the inverse of the primal part in gradient mode.
    fn reverse(&mut self, primal: &Body, made: &mut Body) {
        made.extend([build::blank(), build::heading(" The reverse part.")]);
        self.begin_body(&[]);
        self.open_adjoints(primal, made);
        match invert_body(primal) {
            Ok(inverse) => made.extend(self.statements(&inverse)),
            Err(diagnostics) => self.diagnostics.extend(diagnostics),
        }
    }
}

/// Returns the statements of a text, without its declarations and definitions.
fn executed(text: &[StatementNode]) -> Body {
    let is_executed = |node: &&StatementNode| {
        !matches!(node.statement, Statement::Directive(_) | Statement::Procedure(_) | Statement::Macro(_))
    };
    text.iter().filter(is_executed).cloned().collect()
}

/// Inserts lines before the program's declarations.
pub(super) fn insert_helpers(helpers: impl IntoIterator<Item = StatementNode>, made: &mut Body) {
    let is_first = |node: &StatementNode| match &node.statement {
        Statement::Directive(directive) => matches!(directive, Directive::Globals { .. }),
        Statement::Empty => node.label.is_some(),
        _ => true,
    };
    let place = made.iter().position(is_first).unwrap_or(0);
    made.splice(place..place, helpers);
}

/// If the last statement is a `compute` block, returns its place, and its statements without the `uncompute`. Flattens at
/// most `count` blocks, of which each ends with the next one.
fn flattened(body: &[StatementNode], count: usize) -> Option<(Span, Body)> {
    let is_statement = |node: &&StatementNode| !matches!(node.statement, Statement::Empty);
    let last = body.iter().rfind(is_statement).filter(|_| count > 0)?;
    let Statement::Compute(tree) = &last.statement else { return None };
    let mut apply = tree.apply.clone();
    if let Some((inner, rest)) = flattened(&tree.apply, count - 1) {
        splice(&mut apply, inner, rest);
    }
    Some((last.span, tree.body.iter().cloned().chain(apply).collect()))
}

/// Replaces the `compute` block at a place by statements.
fn splice(body: &mut Body, block: Span, statements: Body) {
    let is_block =
        |node: &StatementNode| matches!(node.statement, Statement::Compute(_)) && node.span == block;
    if let Some(place) = body.iter().rposition(is_block) {
        body.splice(place..=place, statements);
    }
}

/// Returns a seeded cell, of the scalar or array with the given name.
fn cell(name: &str, seed: &CellSeed) -> Expression {
    match seed.indices.is_empty() {
        true => build::cell(name),
        false => {
            let indices = seed.indices.iter().map(|index| Subscript::At(build::int(*index)));
            build::element(name, indices.collect())
        }
    }
}

/// Returns the names of the real inputs.
fn inputs(bodies: &[Body]) -> impl Iterator<Item = CompactString> {
    let mut found = Vec::new();
    for body in bodies {
        let is_inverse = body.iter().any(inverse::is_mark);
        for node in body {
            if let Statement::Directive(Directive::Globals { role, declarations }) = &node.statement
                && (role.is_given() || is_inverse && *role == Role::Garbage)
            {
                let reals = declarations.iter().filter(|it| it.class == Some(Class::Real));
                found.extend(reals.map(|declaration| declaration.name.text.clone()));
            }
        }
    }
    found.into_iter()
}

/// Returns the statements of each included file, and of the files that it includes, by the place of the include.
fn included(loaded: &Loaded) -> HashMap<Span, Body> {
    fn collect(loaded: &Loaded, file: FileId, into: &mut Body) {
        let Some((_, tree)) = loaded.trees().find(|(other, _)| *other == file) else { return };
        for node in tree {
            into.push(node.clone());
            if let Some(target) = include(node).and_then(|(_, place)| loaded.target(place)) {
                collect(loaded, target, into);
            }
        }
    }
    let mut included = HashMap::new();
    let places = loaded.trees().flat_map(|(_, tree)| tree.iter().filter_map(include));
    for (_, place) in places {
        if let Some(file) = loaded.target(place) {
            let mut body = Body::new();
            collect(loaded, file, &mut body);
            included.insert(place, body);
        }
    }
    included
}

fn names_adjoint(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Name { adjoint, .. } => *adjoint,
        ExpressionKind::Element(element) => element.adjoint,
        _ => false,
    }
}
