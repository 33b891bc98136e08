//! Counts that add up along a tree: every count is the sum of its children's, and noise was added to those of some levels.
//!
//! Given its count n, the children of a node have a Dirichlet-multinomial law (theory E1)
//!
//! ```text
//! n! Gamma(A) / Gamma(n + A)  prod_c Gamma(x_c + a_c) / (x_c! Gamma(a_c)),     A = sum a.
//! ```
//!
//! Everything is a product over nodes, so what the children say of their parent is a convolution, in blocks of sums each with
//! a tilt of its own (`blocks`), and its logarithm is known to a stated depth below its largest value. One pass upwards gives
//! these messages and the evidence, one downwards the law of every node. A level has one of several priors of its splits,
//! which all of its nodes share: a [`Level`] is integrated over them, weighed by the evidence of all that was released.
//!
//! Which priors meet which on the way upwards is what `choices` says. Downwards what the levels above say is added up over their
//! priors first: the lowest level, which has most nodes, is walked through once for each of its own priors.

use std::ops::Range;

use super::blocks::{Fineness, Part, Problem, RawBlock, Whole};
use super::cell::{LARGEST_COUNT, log_ways};
use super::choices::{Choice, MOST_CHOICES, Scales, Span, State, near, told_apart};
use super::exponentials::exponentials;
use super::factor::Factor;
use super::message::{DEPTH, Message, log_sum, ways_from};
use super::segment::Segment;
use crate::{Error, Result, interrupt, memory, parallel};

/// How closely sums are looked at. A block reaches as deep as messages do: what is known from above rarely disagrees with what is
/// known from below by so much that the ends of a block, which have fewer digits, would matter.
const FINENESS: Fineness = Fineness { outside: 1e-14, depth: 5e-12, reach: 8.0 };

/// Choices of priors below the top whose evidence is exp of minus this below the best are left out.
const LIGHT: f64 = 30.0;

/// By how much more it may be below the best where the search among the priors of a level still goes on.
const BEYOND: f64 = 10.0;

/// The weight of the choices of priors that are left out in the end.
const REST: f64 = 1e-6;

/// Masses of parents that are not worth walking down for.
const NOTHING: f64 = 1e-14;

/// Nor are states that have so much together.
const UNLIKELY: f64 = 1e-9;

/// Counts in the windows of all nodes of the lowest level.
const LARGEST_WINDOWS: f64 = (1 << 24) as f64;

/// One prior of the splits of a level.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// The logarithm of its weight before the release.
    pub log_weight: f64,
    /// The parameter of each child.
    pub parameters: Vec<f64>,
}

/// The nodes of one level, children of one parent next to each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// For every node the position of its parent in the level above, in order, none left out; zeros at the first level.
    pub parents: Vec<usize>,
    /// The priors of the splits.
    pub splits: Vec<Split>,
    /// What was released of every node, or nothing at all.
    pub released: Vec<Factor>,
}

impl Level {
    fn checked(&self, above: usize, lowest: bool) -> Result<()> {
        let nodes = self.parents.len();
        let in_order = self.parents.first() == Some(&0)
            && self.parents.windows(2).all(|pair| pair[1] == pair[0] || pair[1] == pair[0] + 1)
            && self.parents.last() == Some(&above.wrapping_sub(1));
        if !in_order {
            return Err(Error::parameter("parents", "name every node of the level above, in order", nodes));
        }
        if self.splits.is_empty() || self.splits.iter().any(|split| split.parameters.len() != nodes) {
            return Err(Error::parameter("splits", "have a parameter for every node", nodes));
        }
        if let Some(bad) = self.splits.iter().flat_map(|split| &split.parameters).find(|a| !(1e-12..=1e12).contains(*a))
        {
            return Err(Error::parameter("splits", "have parameters in [1e-12, 1e12]", bad));
        }
        if self.released.len() != nodes && (lowest || !self.released.is_empty()) {
            return Err(Error::parameter(
                "released",
                "be known of every node of the lowest level",
                self.released.len(),
            ));
        }
        if self.released.iter().any(|factor| !factor.locates()) {
            return Err(Error::parameter("released", "be counts with noise", "others"));
        }
        Ok(())
    }

    fn families(&self) -> Vec<Range<usize>> {
        let mut families: Vec<Range<usize>> = Vec::new();
        for (child, &parent) in self.parents.iter().enumerate() {
            if parent == families.len() {
                families.push(child..child);
            }
            families[parent].end = child + 1;
        }
        families
    }
}

/// What is known of a node beside its children.
struct Above<'a> {
    /// The likeliest sum of its children before their prior.
    guess: f64,
    /// The sum of its children's parameters.
    parameter: f64,
    released: Option<&'a Factor>,
    range: (u64, u64),
}

impl Whole for Above<'_> {
    fn log_weight(&self, n: u64) -> f64 {
        let n = n as f64;
        self.released.map_or(0.0, |factor| factor.log_at(n)) - log_ways(self.parameter, n)
    }

    fn add_log_weights(&self, start: i64, logs: &mut [f64]) {
        for ((log, n), ways) in logs.iter_mut().zip(start..).zip(ways_from(self.parameter, start as f64)) {
            *log += self.released.map_or(0.0, |factor| factor.log_at(n as f64)) - ways;
        }
    }

    fn guess(&self) -> Option<f64> {
        // Not at an end, where nothing says in which direction to go on.
        let (low, high) = (self.range.0 as f64, self.range.1 as f64);
        let inner = (0.01 * (high - low)).max(1.0).min(0.5 * (high - low));
        Some(self.released.map_or(self.guess, Factor::guess).clamp(low + inner, high - inner))
    }

    fn range(&self) -> (u64, u64) {
        self.range
    }
}

/// What is known of a level and those below it.
struct Ascended {
    states: Vec<State>,
    choices: Vec<Choice>,
}

/// The posterior laws of the root and of the nodes of every level. Masses of each sum to one.
///
/// # Errors
/// [`Error::InvalidParameter`] for levels that do not fit; [`Error::NotAffordable`] or [`Error::OutOfMemory`] where the noise is
/// too large beside the number of nodes; [`Error::Numerical`] if the release cannot occur; [`Error::Interrupted`].
pub fn tree_posterior(levels: &[Level], total: Option<u64>, threads: usize) -> Result<Vec<Vec<Segment>>> {
    let Some(lowest) = levels.last() else {
        return Err(Error::parameter("levels", "be at least one", 0));
    };
    let mut nodes = 1;
    for (place, level) in levels.iter().enumerate() {
        level.checked(nodes, place + 1 == levels.len())?;
        nodes = level.parents.len();
    }
    if total.is_some_and(|n| n > LARGEST_COUNT) {
        return Err(Error::parameter("total", "be at most 2^53", total.unwrap_or_default()));
    }
    let most = total.unwrap_or(LARGEST_COUNT);
    let windows: f64 = lowest.released.iter().map(|factor| width(factor.window(DEPTH), most)).sum();
    if windows > LARGEST_WINDOWS {
        return Err(Error::NotAffordable {
            asked: format!("a posterior of groups whose noise reaches over {windows:.0} counts in all"),
            limit: format!("{LARGEST_WINDOWS:.0} counts"),
            instead: "take least squares, fewer groups or a larger budget",
        });
    }
    // The messages, those with a prior, and a tree of sums.
    memory::check::<f64>("what is known of the lowest level", 4 * windows as usize)?;
    let families = levels.iter().map(Level::families).collect();
    let tree = Tree { levels, families, total, most, most_choices: MOST_CHOICES, threads };
    tree.posterior()
}

fn width((low, high): (f64, f64), most: u64) -> f64 {
    high.max(0.0).min(most as f64) - low.max(0.0).min(most as f64) + 1.0
}

struct Tree<'a> {
    levels: &'a [Level],
    families: Vec<Vec<Range<usize>>>,
    total: Option<u64>,
    /// No count is larger.
    most: u64,
    most_choices: usize,
    threads: usize,
}

impl Tree<'_> {
    fn posterior(&self) -> Result<Vec<Vec<Segment>>> {
        let released = self.levels.last().map_or(&[][..], |lowest| &lowest.released);
        let leaves = released.iter().map(|factor| Message::of(factor, self.most)).collect::<Result<Vec<_>>>()?;
        let ascended = self.ascended(&leaves, &Scales::new())?;
        let (laws, scales) = self.descended(&ascended, &leaves)?;
        if !ascended.iter().flat_map(|level| &level.choices).any(Choice::gains_by_another_look) {
            return Ok(laws);
        }
        drop(ascended);
        Ok(self.descended(&self.ascended(&leaves, &scales)?, &leaves)?.0)
    }

    /// The choices of priors that matter, for every level from the top down.
    fn ascended(&self, leaves: &[Message], scales: &Scales) -> Result<Vec<Ascended>> {
        let mut found: Vec<Ascended> = Vec::new();
        for place in (0..self.levels.len()).rev() {
            let below = found.last().map(|below| &below.choices);
            let mut states = self.kept(self.grown(place, below, leaves)?, place)?;
            let choices =
                if place > 0 { told_apart(place, &mut states, below, scales, self.most_choices)? } else { Vec::new() };
            found.push(Ascended { states, choices });
        }
        found.reverse();
        Ok(found)
    }

    /// The states of a choice for the levels below and of a split, as far as they may be likely: the splits are in the order of their
    /// concentrations, along which the evidence rises and falls.
    fn grown(&self, place: usize, below: Option<&Vec<Choice>>, leaves: &[Message]) -> Result<Vec<State>> {
        let (choices, splits) = (below.map_or(1, Vec::len), self.levels[place].splits.len());
        let lower = |at: usize| below.map(|choices| &choices[at]);
        let mut found: Vec<Vec<Option<State>>> = (0..choices).map(|_| (0..splits).map(|_| None).collect()).collect();
        let mut best = f64::NEG_INFINITY;
        let mut next: Vec<(usize, usize)> = (0..choices).map(|at| (at, splits / 2)).collect();
        // What a state takes: noise that says little leaves many of them.
        let mut largest = 0;
        while !next.is_empty() {
            memory::check::<f64>("what is known of groups under all priors", next.len().saturating_mul(largest))?;
            let new = parallel::map(next.iter(), self.threads, |&(at, split)| {
                let children = lower(at).map_or(leaves, |choice| &choice.messages);
                self.state(place, (at, split), lower(at), children)
            })?;
            for (&(at, split), state) in next.iter().zip(new) {
                best = best.max(state.score);
                largest = largest.max(state.messages.iter().map(|message| message.logs.len()).sum());
                found[at][split] = Some(state);
            }
            // On either side as long as it rises, or is not too far below the best.
            next.clear();
            for (at, row) in found.iter().enumerate() {
                let own = row.iter().flatten().map(|state| state.score).fold(f64::NEG_INFINITY, f64::max);
                for (split, state) in row.iter().enumerate() {
                    let open = |state: &State| state.score == own || state.score > best - LIGHT - BEYOND;
                    if state.as_ref().is_some_and(open) {
                        let sides = [split.wrapping_sub(1), split + 1];
                        let to_do = sides.into_iter().filter(|&side| row.get(side).is_some_and(Option::is_none));
                        next.extend(to_do.map(|side| (at, side)));
                    }
                }
            }
        }
        Ok(found.into_iter().flatten().flatten().collect())
    }

    /// The states that may be likely.
    fn kept(&self, mut states: Vec<State>, place: usize) -> Result<Vec<State>> {
        states.sort_by(|a, b| b.score.total_cmp(&a.score));
        let best = states.first().map_or(f64::NEG_INFINITY, |state| state.score);
        if !best.is_finite() {
            return Err(Error::numerical("inference", "the release cannot come from any counts that are possible"));
        }
        states.retain(|state| state.score > f64::NEG_INFINITY);
        if place > 0 {
            states.retain(|state| state.score > best - LIGHT);
        } else {
            // Only here it is the evidence of all that was released.
            let mut rest: f64 = states.iter().map(|state| (state.score - best).exp()).sum::<f64>() * (1.0 - REST);
            states.retain(|state| {
                let wanted = rest > 0.0;
                rest -= (state.score - best).exp();
                wanted
            });
        }
        Ok(states)
    }

    /// Adds up the children of every node of the level above under one prior of the splits.
    fn state(
        &self,
        place: usize,
        (below, split): (usize, usize),
        lower: Option<&Choice>,
        children: &[Message],
    ) -> Result<State> {
        let mut state = State {
            below,
            split,
            log_prior: self.levels[place].splits[split].log_weight + lower.map_or(0.0, |lower| lower.log_prior),
            messages: Vec::new(),
            spans: Vec::new(),
            score: 0.0,
        };
        state.score = state.log_prior;
        for parent in 0..self.families[place].len() {
            interrupt::check()?;
            let (parts, above) = self.family(place, parent, split, children);
            let problem = problem(&parts, &above);
            let blocks = match self.total {
                Some(n) if place == 0 => {
                    if n < above.range.0 || n > above.range.1 {
                        state.score = f64::NEG_INFINITY;
                        return Ok(state);
                    }
                    vec![problem.block_at(n)?]
                }
                _ => problem.blocks(DEPTH)?,
            };
            let span = |block: &RawBlock| Span {
                tilt: block.tilt,
                most: block.most,
                start: block.start,
                length: block.log_weights.len(),
            };
            state.spans.push(blocks.iter().map(span).collect());
            state.score += log_sum(blocks.iter().map(|block| &block.log_weights[..]));
            if state.score == f64::NEG_INFINITY {
                return Ok(state);
            }
            let start = blocks.first().map_or(0, |block| block.start);
            let message = Message { start, logs: blocks.into_iter().flat_map(|block| block.log_weights).collect() };
            state.messages.push(message.trimmed());
        }
        Ok(state)
    }

    /// What is known of the children of a node, their prior included, and of the node itself.
    fn family(&self, place: usize, parent: usize, split: usize, children: &[Message]) -> (Vec<Message>, Above<'_>) {
        let range = self.families[place][parent].clone();
        let parameters = &self.levels[place].splits[split].parameters[range.clone()];
        let parts: Vec<Message> =
            children[range.clone()].iter().zip(parameters).map(|(child, &a)| child.weighed(a)).collect();
        let (low, high) = parts.iter().fold((0, 0), |sum, part| (sum.0 + part.start, sum.1 + part.end()));
        let released = if place == 0 { None } else { self.levels[place - 1].released.get(parent) };
        let above = Above {
            guess: children[range.clone()].iter().map(Part::guess).sum(),
            parameter: parameters.iter().sum(),
            released,
            range: (low as u64, (high as u64).min(self.most).max(low as u64)),
        };
        (parts, above)
    }

    /// The laws of the root and of all levels, and what is known of the nodes beside the states of a choice.
    fn descended(&self, ascended: &[Ascended], leaves: &[Message]) -> Result<(Vec<Vec<Segment>>, Scales)> {
        let top = &ascended[0].states;
        let best = top.first().map_or(0.0, |state| state.score);
        let evidence: f64 = top.iter().map(|state| (state.score - best).exp()).sum();
        // For every state the masses of the nodes above its level; all states together have a mass of one.
        let mut masses: Vec<Vec<Segment>> = top
            .iter()
            .map(|state| {
                let message = &state.messages[0];
                let weight = (state.score - best).exp() / evidence;
                let values = exponentials(&message.logs, 0.0, message.top());
                let sum: f64 = values.iter().sum();
                vec![Segment { start: message.start, values: values.iter().map(|v| v * weight / sum).collect() }]
            })
            .collect();
        let mut laws = vec![added(&masses.iter().collect::<Vec<_>>())];
        let mut scales = Scales::new();
        for (place, Ascended { states, .. }) in ascended.iter().enumerate() {
            let lower = ascended.get(place + 1);
            let nothing = UNLIKELY / states.len() as f64;
            let parts = parallel::map(0..states.len(), self.threads, |at| {
                if masses[at].first().is_none_or(|mass| mass.sum() < nothing) {
                    return Ok(Vec::new());
                }
                let children = lower.map_or(leaves, |lower| &lower.choices[states[at].below].messages[..]);
                self.walked_down(place, &states[at], &masses[at], children)
            })?;
            laws.push(added(&parts.iter().collect::<Vec<_>>()));
            let Some(lower) = lower else { break };
            let mut by_choice: Vec<Vec<&Vec<Segment>>> = vec![Vec::new(); lower.choices.len()];
            states.iter().zip(&parts).for_each(|(state, part)| by_choice[state.below].push(part));
            masses = vec![Vec::new(); lower.states.len()];
            for (choice, parts) in lower.choices.iter().zip(&by_choice) {
                let parts = choice.shared(&lower.states, added(parts));
                for (member, part) in choice.members.iter().zip(parts) {
                    if choice.members.len() > 1 {
                        let deeper = ascended.get(place + 2).map(|level| &level.choices);
                        scales.insert((place + 1, near(&lower.states[member.at], deeper)), member.rescaled(&part));
                    }
                    masses[member.at] = part;
                }
            }
        }
        laws.iter_mut().flatten().for_each(|law| *law = law.scaled(1.0 / law.sum()));
        Ok((laws, scales))
    }

    /// The masses of the nodes of a level under one choice of priors, given those of their parents.
    fn walked_down(
        &self,
        place: usize,
        state: &State,
        masses: &[Segment],
        children: &[Message],
    ) -> Result<Vec<Segment>> {
        let mut found = Vec::with_capacity(children.len());
        for (parent, mass) in masses.iter().enumerate() {
            let (parts, above) = self.family(place, parent, state.split, children);
            let problem = problem(&parts, &above);
            let mut pieces: Vec<Vec<Segment>> = vec![Vec::new(); parts.len()];
            for span in &state.spans[parent] {
                interrupt::check()?;
                let (start, end) = (span.start.max(mass.start), (span.start + span.length as i64).min(mass.end()));
                let inside = |n: i64| mass.values[(n - mass.start) as usize];
                if start >= end || (start..end).map(inside).sum::<f64>() < NOTHING * mass.sum() {
                    continue;
                }
                let block = problem.again(span.tilt, span.most, (start, end))?;
                let root = block.tree.root();
                let weight = |n: i64| if root.at(n) > 0.0 { inside(n) / root.at(n) } else { 0.0 };
                let weights = Segment { start, values: (start..end).map(weight).collect() };
                let (outside, _) = block.tree.outside(weights)?;
                for (k, pieces) in pieces.iter_mut().enumerate() {
                    let law = block.tree.law(k);
                    let values = law.values.iter().zip(&outside[k].aligned(law)).map(|(p, o)| p * o).collect();
                    pieces.push(Segment { start: law.start, values });
                }
            }
            found.extend(pieces.iter().map(|pieces| Segment::sum_of(pieces)));
        }
        Ok(found)
    }
}

fn problem<'a>(parts: &'a [Message], above: &'a Above<'a>) -> Problem<'a, Message, Above<'a>> {
    Problem { parts, whole: above, least: parts.iter().map(Part::least).sum(), fineness: FINENESS }
}

/// Sums over choices of priors, node by node.
fn added(parts: &[&Vec<Segment>]) -> Vec<Segment> {
    // A choice that nothing above goes with has no masses at all.
    let parts: Vec<_> = parts.iter().filter(|part| !part.is_empty()).collect();
    let nodes = parts.first().map_or(0, |part| part.len());
    (0..nodes).map(|node| Segment::sum_of(&parts.iter().map(|part| part[node].clone()).collect::<Vec<_>>())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::factor::Noise;
    use super::*;
    use crate::special::log_gamma;

    fn log_split(x: &[i64], a: &[f64]) -> f64 {
        let (n, total) = (x.iter().sum::<i64>() as f64, a.iter().sum::<f64>());
        let part = |(&x, &a): (&i64, &f64)| log_gamma(x as f64 + a) - log_gamma(x as f64 + 1.0) - log_gamma(a);
        log_gamma(n + 1.0) + log_gamma(total) - log_gamma(n + total) + x.iter().zip(a).map(part).sum::<f64>()
    }

    /// A root, two, three and five nodes; noise on the first and the last level.
    fn levels(gaussian: bool, shift: f64) -> Vec<Level> {
        let noise = |size: f64| {
            if gaussian {
                Noise::Gaussian { sigma: size, step: 1.0 }
            } else {
                Noise::Laplace { scale: size, step: 1.0 }
            }
        };
        let splits = |weights: [f64; 2], sums: [f64; 2], parents: &[usize]| {
            let children = |p: usize| parents.iter().filter(|&&q| q == p).count() as f64;
            weights
                .into_iter()
                .zip(sums)
                .map(|(w, sum)| Split {
                    log_weight: f64::ln(w),
                    parameters: parents.iter().map(|&p| sum / children(p)).collect(),
                })
                .collect::<Vec<_>>()
        };
        let noisy =
            |values: &[f64], size: f64| values.iter().map(|&y| Factor::noisy(y, noise(size)).unwrap()).collect();
        let parents = [vec![0, 0], vec![0, 0, 1], vec![0, 0, 1, 2, 2]];
        vec![
            Level {
                splits: splits([0.4, 0.6], [0.7, 9.0], &parents[0]),
                released: noisy(&[2.0, 3.0 + shift], 1.5),
                parents: parents[0].clone(),
            },
            Level {
                splits: splits([0.5, 0.5], [0.3, 30.0], &parents[1]),
                released: vec![],
                parents: parents[1].clone(),
            },
            Level {
                splits: splits([0.2, 0.8], [0.5, 40.0], &parents[2]),
                released: noisy(&[1.0, -2.0, 0.0, 4.0 + shift, 0.0], 1.1),
                parents: parents[2].clone(),
            },
        ]
    }

    /// Masses of all tables whose total is at most `most`, or this one, by the definition.
    fn enumerated(levels: &[Level], most: i64, known: bool) -> Vec<(Vec<Vec<i64>>, f64)> {
        let mut found = Vec::new();
        let mut x = [0_i64; 5];
        loop {
            let middle = vec![x[0] + x[1], x[2], x[3] + x[4]];
            let top = vec![middle[0] + middle[1], middle[2]];
            let n = top[0] + top[1];
            if n <= most && (!known || n == most) {
                let tables = [top, middle, x.to_vec()];
                let released = |(level, table): (&Level, &Vec<i64>)| {
                    level.released.iter().zip(table).map(|(factor, &x)| factor.log_at(x as f64)).sum::<f64>()
                };
                let log = levels.iter().zip(&tables).map(released).sum::<f64>();
                let mean = |level: usize| {
                    levels[level].splits.iter().fold(0.0, |sum, split| {
                        let mut log = split.log_weight;
                        for family in levels[level].families() {
                            log += log_split(&tables[level][family.clone()], &split.parameters[family]);
                        }
                        sum + log.exp()
                    })
                };
                let mass = log.exp() * mean(0) * mean(1) * mean(2);
                found.push(([vec![vec![n]], tables.to_vec()].concat(), mass));
            }
            let Some(k) = (0..5).find(|&k| x[k] < most) else { break };
            x[..k].fill(0);
            x[k] += 1;
        }
        let total: f64 = found.iter().map(|found| found.1).sum();
        found.iter_mut().for_each(|found| found.1 /= total);
        found
    }

    #[test]
    fn the_posterior_is_that_of_an_enumeration_of_all_tables() {
        for (gaussian, shift, most, known) in
            [(false, 0.0, 7, true), (true, 0.0, 7, true), (true, 0.0, 9, true), (true, -2.0, 12, false)]
        {
            let levels = levels(gaussian, shift);
            let laws = tree_posterior(&levels, known.then_some(most as u64), 1).unwrap();
            let all = enumerated(&levels, most, known);
            // Of a private total the enumeration ends at `most`: what is beyond has less than this.
            let allowed = if known { 1e-10 } else { 1e-4 };
            for (place, laws) in laws.iter().enumerate() {
                for (node, law) in laws.iter().enumerate() {
                    for count in 0..=most {
                        let exact: f64 =
                            all.iter().filter(|(tables, _)| tables[place][node] == count).map(|(_, mass)| mass).sum();
                        let gap = (law.at(count) - exact).abs();
                        assert!(gap < allowed, "{gaussian} {most} {place} {node} at {count}: {gap:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_choice_of_priors_that_matters_is_left_out() {
        // Noise that says little leaves all 13^3 choices of three levels likely, none of them by much.
        let mut levels = levels(false, 0.0);
        let noise = Noise::Laplace { scale: 20.0, step: 1.0 };
        for level in &mut levels {
            let children = level.families().iter().map(|family| family.len() as f64).collect::<Vec<_>>();
            let even = |sum: f64| level.parents.iter().map(|&parent| sum / children[parent]).collect();
            level.splits = (0..13)
                .map(|i| Split {
                    log_weight: -13.0_f64.ln(),
                    parameters: even(10.0_f64.powf(f64::from(i) / 2.0 - 1.0)),
                })
                .collect();
        }
        levels[0].released.clear();
        levels[2].released = [9.0, -30.0, 25.0, 14.0, -7.0].map(|y| Factor::noisy(y, noise).unwrap()).to_vec();
        let (laws, all) = (tree_posterior(&levels, Some(7), 1).unwrap(), enumerated(&levels, 7, true));
        for (place, laws) in laws.iter().enumerate() {
            for (node, law) in laws.iter().enumerate() {
                for count in 0..=7 {
                    let exact: f64 =
                        all.iter().filter(|(tables, _)| tables[place][node] == count).map(|(_, mass)| mass).sum();
                    let gap = (law.at(count) - exact).abs();
                    // What is left out in the end has a weight of `REST`.
                    assert!(gap < 2.0 * REST, "{place} {node} at {count}: {gap:e}");
                }
            }
        }
    }

    #[test]
    fn priors_that_are_summed_out_keep_their_weight() {
        // Five levels, every node with two children, four priors each: 1024 choices, of which 64 are told apart at a level.
        for (scale, total, allowed) in [(1.0, Some(100), 5e-3), (4.0, Some(100), 1e-3), (4.0, None, 1e-3)] {
            let noisy =
                |i: usize| Factor::noisy((i * i * 7 % 23) as f64 - 8.0, Noise::Laplace { scale, step: 1.0 }).unwrap();
            let level = |place: usize| {
                let nodes = 2 << place;
                let split = |sum: f64| Split { log_weight: (1.0 + 0.4 * sum).ln(), parameters: vec![sum / 2.0; nodes] };
                Level {
                    parents: (0..nodes).map(|node| node / 2).collect(),
                    splits: [0.1, 1.0, 10.0, 100.0].map(split).to_vec(),
                    released: if place == 4 { (0..nodes).map(noisy).collect() } else { vec![] },
                }
            };
            let levels: Vec<Level> = (0..5).map(level).collect();
            let laws = |most_choices: usize| {
                let families = levels.iter().map(Level::families).collect();
                let most = total.unwrap_or(LARGEST_COUNT);
                Tree { levels: &levels, families, total, most, most_choices, threads: 1 }.posterior().unwrap()
            };
            let apart = |(exact, found): (&Segment, &Segment)| {
                let counts = exact.start.min(found.start)..exact.end().max(found.end());
                counts.map(|n| (exact.at(n) - found.at(n)).abs()).sum::<f64>() / 2.0
            };
            for (place, (exact, found)) in laws(1 << 10).iter().zip(&laws(64)).enumerate() {
                // The likeliest 64 choices of each level alone are off by up to 0.3.
                let distance = exact.iter().zip(found).map(apart).fold(0.0, f64::max);
                assert!(distance < allowed, "{scale} {total:?} {place}: {distance:e}");
            }
        }
    }

    #[test]
    fn wide_windows_add_up_on_every_level_whatever_the_threads() {
        // 3 x 8 groups of 10,000 records, noise of scale 300 and 100: sums by transforms.
        let parents: Vec<usize> = (0..24).map(|i| i / 8).collect();
        let split = |sum: f64, n: usize, of: f64| Split { log_weight: 0.0, parameters: vec![sum / of; n] };
        let noisy = |y: f64, scale: f64| Factor::noisy(y, Noise::Laplace { scale, step: 1.0 }).unwrap();
        let levels = [
            Level {
                parents: vec![0; 3],
                splits: vec![split(3.0, 3, 3.0)],
                released: [3100.0, 2600.0, 4500.0].map(|y| noisy(y, 300.0)).to_vec(),
            },
            Level {
                splits: [1.0, 10.0, 100.0, 1000.0].map(|sum| split(sum, 24, 8.0)).to_vec(),
                released: (0..24).map(|i| noisy(f64::from(i * i % 900), 100.0)).collect(),
                parents: parents.clone(),
            },
        ];
        let laws = tree_posterior(&levels, Some(10_000), 1).unwrap();
        assert_eq!(laws, tree_posterior(&levels, Some(10_000), 2).unwrap());
        let means: Vec<Vec<f64>> = laws.iter().map(|laws| laws.iter().map(|law| law.moments().0).collect()).collect();
        // To 1e-8 of the number of records, what docs/groups.md promises: messages end exp(-26) below their largest value.
        assert!((means[1].iter().sum::<f64>() - 10_000.0).abs() < 1e-4);
        for (parent, mean) in means[1].iter().enumerate() {
            let children: f64 = means[2].iter().zip(&parents).filter(|(_, p)| **p == parent).map(|(m, _)| m).sum();
            assert!((children - mean).abs() < 1e-4, "{children} {mean}");
        }
    }

    #[test]
    fn levels_that_do_not_fit_are_refused() {
        let good = levels(true, 0.0);
        let wrong = |change: &dyn Fn(&mut Vec<Level>)| {
            let mut levels = good.clone();
            change(&mut levels);
            assert!(matches!(tree_posterior(&levels, Some(7), 1), Err(Error::InvalidParameter { .. })));
        };
        wrong(&|levels| levels.clear());
        wrong(&|levels| levels[1].parents[2] = 2);
        wrong(&|levels| levels[2].parents[0] = 1);
        wrong(&|levels| levels[0].splits.clear());
        wrong(&|levels| levels[0].splits[0].parameters[1] = f64::NAN);
        wrong(&|levels| levels[2].released.truncate(4));
        wrong(&|levels| levels[2].released[0] = Factor::urn(1, 1.0, 1.0).unwrap());
        assert!(tree_posterior(&good, Some(u64::MAX), 1).is_err());
    }
}
