//! The tree of variables that editors show. Each node has an id while the wave is stopped. The rows of a node
//! are computed when the user opens the node. Each row is also an expression, so that the user can watch and
//! evaluate it.

use super::frames::View;
use super::memory;
use super::requests::{Answer, Arguments, Refusal, body, needed};
use super::server::Server;
use debug::{Parts, Shown, Space, Stop};
use serde_json::{Value, json};

/// Limit on the number of nodes of the tree whose ids stay valid until the wave continues.
const NODES: usize = 1 << 18;
/// Limit on the number of rows of a node in one response.
const ROWS: u64 = 1 << 14;

/// A node that can be opened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// The live variables in one lane.
    Locals(View),
    /// The variables that are live at the stop. Each row shows a variable's value in the view's lane and can
    /// be opened to show the values in all lanes.
    Lanes(View),
    /// The value of an expression in each lane.
    Across(String, View),
    /// The value of an expression in one lane, which has parts.
    Whole(String, View),
    /// The register banks, for one lane.
    Registers(View),
    /// A register bank: `s`, `v`, `a`.
    Bank(char, View),
    /// LDS, or the private memory of a lane.
    Memory(Space, View),
}

impl Node {
    fn view(&self) -> View {
        match self {
            Node::Locals(view) | Node::Lanes(view) | Node::Registers(view) => *view,
            Node::Across(_, view) | Node::Whole(_, view) => *view,
            Node::Bank(_, view) | Node::Memory(_, view) => *view,
        }
    }
}

/// The nodes that have ids.
#[derive(Default)]
pub struct Nodes {
    list: Vec<Node>,
    numbers: std::collections::HashMap<Node, u64>,
}

impl Nodes {
    /// Returns the id of a node.
    pub fn number(&mut self, node: Node) -> Result<u64, Refusal> {
        if let Some(number) = self.numbers.get(&node) {
            return Ok(*number);
        }
        if self.list.len() >= NODES {
            return Err(format!("more than {NODES} values are open"));
        }
        self.list.push(node.clone());
        let number = self.list.len() as u64;
        self.numbers.insert(node, number);
        Ok(number)
    }

    /// Returns the node with this id.
    fn get(&self, number: u64) -> Result<&Node, Refusal> {
        let node = number.checked_sub(1).and_then(|at| self.list.get(usize::try_from(at).ok()?));
        node.ok_or_else(|| format!("there is no value {number}: those of a stop end when the wave goes on"))
    }

    pub fn clear(&mut self) {
        self.list.clear();
        self.numbers.clear();
    }
}

/// A row of the tree.
struct Row {
    name: String,
    value: String,
    ty: Option<String>,
    /// Expression of the row's value.
    text: Option<String>,
    /// The node that is shown when the user opens the row. For an array, also the number of its elements.
    opens: Option<(Node, Option<u64>)>,
    memory: Option<String>,
}

impl Row {
    fn new(name: impl Into<String>, value: impl Into<String>) -> Row {
        Row { name: name.into(), value: value.into(), ty: None, text: None, opens: None, memory: None }
    }

    fn opening(name: &str, node: Node) -> Row {
        Row { opens: Some((node, None)), ..Row::new(name, "") }
    }

    /// Returns the row of a value in one lane.
    fn from_shown(name: &str, text: &str, view: View, shown: Result<Shown, String>) -> Row {
        let shown = match shown {
            Ok(shown) => shown,
            Err(why) => return Row::new(name, why),
        };
        Row {
            ty: Some(shown.ty.clone()),
            text: Some(text.to_owned()),
            opens: opens(text, view, &shown),
            memory: shown.memory_value.map(|memory_value| memory::reference(&memory_value)),
            ..Row::new(name, shown.to_string())
        }
    }
}

/// Returns the node that a value opens to.
fn opens(text: &str, view: View, shown: &Shown) -> Option<(Node, Option<u64>)> {
    let whole = || Node::Whole(text.to_owned(), view);
    match shown.parts {
        Parts::None => None,
        Parts::Elements(count) => Some((whole(), Some(count))),
        Parts::Fields(_) | Parts::Target => Some((whole(), None)),
    }
}

/// Handles the "Variables Request".
pub fn variables(server: &mut Server, stop: &mut Stop<'_>, arguments: &Value) -> Answer {
    let node = server.nodes.get(needed(arguments, "variablesReference")?)?.clone();
    let from = arguments.number("start").unwrap_or(0);
    let count = arguments.number("count").filter(|&count| count > 0).unwrap_or(ROWS).min(ROWS);
    let rows = node.view().with_frame(stop, |stop| rows(stop, &node, from, count))?;
    let told = rows.into_iter().map(|row| variable_json(server, row)).collect::<Result<Vec<_>, _>>()?;
    body(json!({ "variables": told }))
}

/// Returns the description of a row for the client ("Variable").
fn variable_json(server: &mut Server, row: Row) -> Result<Value, Refusal> {
    let mut told = json!({ "name": row.name, "value": row.value, "variablesReference": 0 });
    if let Some((node, count)) = row.opens {
        told["variablesReference"] = json!(server.nodes.number(node)?);
        if let Some(count) = count {
            told["indexedVariables"] = json!(count);
        }
    }
    let texts = [("type", row.ty), ("evaluateName", row.text), ("memoryReference", row.memory)];
    for (name, text) in texts.into_iter().filter_map(|(name, text)| Some((name, text?))) {
        told[name] = json!(text);
    }
    Ok(told)
}

/// Returns at most `count` rows of a node, starting with row `from`.
fn rows(stop: &Stop<'_>, node: &Node, from: u64, count: u64) -> Vec<Row> {
    let part = |rows: Vec<Row>| {
        let skipped = usize::try_from(from).unwrap_or(usize::MAX);
        rows.into_iter().skip(skipped).take(count as usize).collect()
    };
    match node {
        Node::Locals(view) => part(locals(stop, *view)),
        Node::Lanes(view) => part(locals(stop, *view).into_iter().map(|row| across(row, *view)).collect()),
        Node::Across(text, view) => part(lanes(stop, text, *view)),
        Node::Whole(text, view) => {
            let parts = stop.value(text, view.lane).map_or(Parts::None, |shown| shown.parts);
            let row = |(name, text): (String, String)| {
                Row::from_shown(&name, &text, *view, stop.value(&text, view.lane))
            };
            parts.within(text, from, count).map(row).collect()
        }
        Node::Registers(view) => part(registers(stop, *view)),
        Node::Bank(bank, view) => part(bank_of(stop, *bank, *view)),
        Node::Memory(space, view) => memory::rows(stop, *space, view.lane, from, count)
            .into_iter()
            .map(|(name, value, reference)| Row { memory: Some(reference), ..Row::new(name, value) })
            .collect(),
    }
}

fn locals(stop: &Stop<'_>, view: View) -> Vec<Row> {
    let variables = stop.variables(view.lane);
    if variables.is_empty() {
        return vec![Row::new("variables", "the object describes none here; see Registers")];
    }
    variables.into_iter().map(|(name, shown)| Row::from_shown(&name, &name, view, shown)).collect()
}

/// Returns a copy of a variable's row that opens the variable's values in all lanes.
fn across(row: Row, view: View) -> Row {
    let opens = row.text.clone().map(|text| (Node::Across(text, view), None));
    Row { opens, ..row }
}

/// Returns a row for each lane with the value of an expression in that lane. The name of an inactive lane's
/// row says that the lane is waiting.
fn lanes(stop: &Stop<'_>, text: &str, view: View) -> Vec<Row> {
    let row = |(lane, (shown, is_active)): (usize, (Result<Shown, String>, bool))| {
        let name = format!("lane {lane}{}", if is_active { "" } else { ", waits" });
        // Clients would evaluate an expression of the row in the lane that steps follow, and not in the lane
        // of the row. The row therefore has no expression.
        Row { text: None, ..Row::from_shown(&name, text, view.of_lane(lane as u32), shown) }
    };
    stop.across(text, None).into_iter().enumerate().map(row).collect()
}

/// Returns rows for the registers with names of their own, and for the register banks, which the user can
/// open.
fn registers(stop: &Stop<'_>, view: View) -> Vec<Row> {
    let alone = ["pc", "exec", "vcc", "m0", "scc", "mode"];
    let mut rows: Vec<Row> = alone.into_iter().map(|name| register(stop, name, view)).collect();
    for (bank, name) in [('s', "scalar"), ('v', "vector"), ('a', "accumulation")] {
        if registers_of(stop, bank) > 0 {
            rows.push(Row::opening(name, Node::Bank(bank, view)));
        }
    }
    rows
}

fn registers_of(stop: &Stop<'_>, bank: char) -> u16 {
    let [scalar, vector, accumulation] = stop.at.register_counts();
    match bank {
        's' => scalar,
        'v' => vector,
        _ => accumulation,
    }
}

fn register(stop: &Stop<'_>, name: &str, view: View) -> Row {
    let text = format!("${name}");
    Row::from_shown(name, &text, view, stop.value(&text, view.lane))
}

fn bank_of(stop: &Stop<'_>, bank: char, view: View) -> Vec<Row> {
    let rows = (0..registers_of(stop, bank)).map(|number| register(stop, &format!("{bank}{number}"), view));
    if bank == 's' { rows.collect() } else { rows.map(|row| across(row, view)).collect() }
}

/// Returns the expression for the row `name` of a node, and the view (wave, call frame and lane) in which to
/// evaluate the expression.
pub fn part(
    server: &Server,
    stop: &mut Stop<'_>,
    number: u64,
    name: &str,
) -> Result<(String, View), Refusal> {
    let missing = || format!("there is no `{name}`");
    match server.nodes.get(number)? {
        Node::Locals(view) | Node::Lanes(view) => Ok((name.to_owned(), *view)),
        Node::Whole(text, view) => {
            let parts = view.with_frame(stop, |stop| stop.value(text, view.lane))??.parts;
            // The row of an array element is found by the index of the element, without computing the rows
            // before it.
            let index = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')?.parse().ok());
            let (from, count) = index.map_or((0, ROWS), |index| (index, 1));
            let found = parts.within(text, from, count).find(|part| part.0 == name);
            Ok((found.ok_or_else(missing)?.1, *view))
        }
        Node::Across(text, view) => {
            let digits = name.strip_prefix("lane ").and_then(|rest| rest.split(',').next());
            let lane = digits.and_then(|digits| digits.parse().ok()).filter(|&lane| lane < stop.at.lanes());
            Ok((text.clone(), view.of_lane(lane.ok_or_else(missing)?)))
        }
        Node::Registers(view) | Node::Bank(_, view) => Ok((format!("${name}"), *view)),
        Node::Memory(..) => Err("memory is watched by the address".to_owned()),
    }
}

/// Returns the body of an "Evaluate Response" for a value.
pub fn evaluated(server: &mut Server, text: &str, view: View, shown: Shown) -> Answer {
    let Row { value, ty, opens, memory, .. } = Row::from_shown("", text, view, Ok(shown));
    let mut told = variable_json(server, Row { opens, memory, ..Row::new("", "") })?;
    told["result"] = json!(value);
    told["type"] = json!(ty);
    if let Some(fields) = told.as_object_mut() {
        fields.remove("name");
        fields.remove("value");
    }
    body(told)
}
