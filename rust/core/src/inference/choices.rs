//! Which choices of priors are told apart along a tree, and what those that are not say together.
//!
//! Upwards every prior of a level meets every choice of priors below it ([`State`]). Where these become too many the priors of the
//! deepest levels are summed out, each node for itself ([`Choice`]): none loses its weight.

use std::collections::BTreeMap;

use super::exponentials::exponentials;
use super::message::{Message, log_sum};
use super::segment::Segment;
use crate::{Result, interrupt, memory};

/// Choices of priors that are told apart at a level below the top: all of three levels of a hierarchy with 13 concentrations each.
/// Where noise says little they are all likely: of 2197 the best 400 had 78 % of the weight, and means were off by more than a count.
pub(super) const MOST_CHOICES: usize = 2197;

/// Where priors are summed out, a second look with what the first one found of the nodes brings laws nearer to the exact ones if so
/// many levels are told apart; with fewer it overdoes what the nodes say of the priors, each by itself.
const LEVELS_FOR_LOOK: usize = 3;

/// A block of sums, as far as it takes to form it again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) tilt: f64,
    pub(super) most: u64,
    pub(super) start: i64,
    pub(super) length: usize,
}

/// A prior of a level and a choice for those below it.
pub(super) struct State {
    /// The choice for the levels below, and the prior of this level.
    pub(super) below: usize,
    pub(super) split: usize,
    /// The logarithms of the weights of the priors.
    pub(super) log_prior: f64,
    /// For each node of the level above: what is known of its count from itself and from below. Not of a state that is a choice
    /// by itself, which has them.
    pub(super) messages: Vec<Message>,
    /// How its children's sums were looked at.
    pub(super) spans: Vec<Vec<Span>>,
    /// The logarithm of the evidence, every number of the nodes above as likely as any other.
    pub(super) score: f64,
}

/// What the levels above tell apart of the priors of a level and those below it: one state, or several that differ in the priors
/// of the deepest levels alone.
///
/// What states i say of the counts x of all nodes v is sum_i p_i prod_v m_iv(x_v), with p_i the weight of their priors. Of several
/// states that is taken for (sum_i q_i) prod_v (sum_i q_i m_iv(x_v) / z_iv) / sum_i q_i, q_i = p_i prod_v z_iv. What a single node
/// says of its own count loses nothing by that, whatever the z; that the nodes share a prior is lost as far as m_iv / z_iv differ
/// between the states. So z_iv is how likely the state makes what else is known of the node, as far as an earlier look has found
/// out; at first every count is as likely as any other.
pub(super) struct Choice {
    pub(super) members: Vec<Member>,
    pub(super) log_prior: f64,
    pub(super) messages: Vec<Message>,
    /// The priors of this level and the next ones, as many as are told apart.
    pub(super) near: Vec<usize>,
}

/// A state of a choice.
pub(super) struct Member {
    pub(super) at: usize,
    /// ln (q / sum q).
    pub(super) log_weight: f64,
    /// ln z of every node.
    pub(super) log_scales: Vec<f64>,
}

/// For states, by their level and the priors that tell them apart, what is known of every node's count beside them.
pub(super) type Scales = BTreeMap<(usize, Vec<usize>), Vec<f64>>;

/// The choices that the states of a level make: all of them, or as many levels, from theirs down, as there may be choices.
pub(super) fn told_apart(
    place: usize,
    states: &mut [State],
    below: Option<&Vec<Choice>>,
    scales: &Scales,
    most_choices: usize,
) -> Result<Vec<Choice>> {
    let all: Vec<Vec<usize>> = states.iter().map(|state| near(state, below)).collect();
    let most = all.first().map_or(1, Vec::len);
    let mut groups = Vec::new();
    for levels in (1..=most).rev() {
        let mut by_near: BTreeMap<&[usize], Vec<usize>> = BTreeMap::new();
        all.iter().enumerate().for_each(|(at, near)| by_near.entry(&near[..levels]).or_default().push(at));
        groups = by_near.into_iter().collect();
        if groups.len() <= most_choices {
            break;
        }
    }
    let choice = |(near, members): (&[usize], Vec<usize>)| {
        interrupt::check()?;
        if let [at] = members[..] {
            return Ok(Choice {
                members: vec![Member { at, log_weight: 0.0, log_scales: Vec::new() }],
                log_prior: states[at].log_prior,
                messages: std::mem::take(&mut states[at].messages),
                near: near.to_vec(),
            });
        }
        let known = |at: usize| scales.get(&(place, all[at].clone()));
        joined(states, members.into_iter().map(|at| (at, known(at))), near)
    };
    groups.into_iter().map(choice).collect()
}

impl Choice {
    /// Whether a second look, with what the first one found of the nodes, brings laws nearer to the exact ones.
    pub(super) fn gains_by_another_look(&self) -> bool {
        self.members.len() > 1 && self.near.len() >= LEVELS_FOR_LOOK
    }

    /// The masses of the nodes, for each member its part of them.
    pub(super) fn shared(&self, states: &[State], masses: Vec<Segment>) -> Vec<Vec<Segment>> {
        if self.members.len() == 1 {
            return vec![masses];
        }
        let share = |member: &Member, node: usize| {
            let (message, mean, mass) = (&states[member.at].messages[node], &self.messages[node], &masses[node]);
            let log_share = member.log_weight - member.log_scales[node];
            let (start, end) = (mass.start.max(message.start), mass.end().min(message.end() + 1));
            let part = |n: i64| {
                let logs = message.logs[(n - message.start) as usize] - mean.logs[(n - mean.start) as usize];
                mass.at(n) * (log_share + logs).exp()
            };
            Segment { start, values: (start..end).map(part).collect() }
        };
        self.members.iter().map(|member| (0..masses.len()).map(|node| share(member, node)).collect()).collect()
    }
}

impl Member {
    /// The scales after a look that gave the nodes these masses.
    pub(super) fn rescaled(&self, masses: &[Segment]) -> Vec<f64> {
        let all = |scale: f64, mass: &Segment| scale - self.log_weight + mass.sum().ln();
        let found: Vec<f64> = self.log_scales.iter().zip(masses).map(|(&scale, mass)| all(scale, mass)).collect();
        if found.len() == self.log_scales.len() && found.iter().all(|scale| scale.is_finite()) {
            found
        } else {
            self.log_scales.clone()
        }
    }
}

/// The priors that tell a state from others.
pub(super) fn near(state: &State, below: Option<&Vec<Choice>>) -> Vec<usize> {
    let deeper = below.map_or(&[][..], |choices| &choices[state.below].near);
    [&[state.split], deeper].concat()
}

/// The choice that is one of several states, with what is known of the scales of each.
fn joined<'a>(
    states: &[State],
    members: impl Iterator<Item = (usize, Option<&'a Vec<f64>>)>,
    near: &[usize],
) -> Result<Choice> {
    let flat =
        |at: usize| states[at].messages.iter().map(|message| log_sum(std::iter::once(&message.logs[..]))).collect();
    let mut members: Vec<Member> = members
        .map(|(at, known)| {
            let log_scales: Vec<f64> = known.cloned().unwrap_or_else(|| flat(at));
            Member { at, log_weight: states[at].log_prior + log_scales.iter().sum::<f64>(), log_scales }
        })
        .collect();
    let weights: Vec<f64> = members.iter().map(|member| member.log_weight).collect();
    let log_prior = log_sum(std::iter::once(&weights[..]));
    members.iter_mut().for_each(|member| member.log_weight -= log_prior);
    let mean = |node: usize| {
        let said = || {
            members
                .iter()
                .map(|member| (member.log_weight - member.log_scales[node], &states[member.at].messages[node]))
        };
        let start = said().map(|(_, message)| message.start).min().unwrap_or(0);
        let end = said().map(|(_, message)| message.end()).max().unwrap_or(0);
        let size = (end - start) as usize + 1;
        memory::check::<f64>("what is known of a group", size)?;
        let top = said().map(|(log_share, message)| log_share + message.top()).fold(f64::NEG_INFINITY, f64::max);
        let mut masses = vec![0.0; size];
        for (log_share, message) in said() {
            let first = (message.start - start) as usize;
            let terms = exponentials(&message.logs, 0.0, top - log_share);
            masses[first..].iter_mut().zip(terms).for_each(|(mass, term)| *mass += term);
        }
        Ok(Message { start, logs: masses.iter().map(|mass: &f64| top + mass.ln()).collect() })
    };
    let messages = (0..states[members[0].at].messages.len()).map(mean).collect::<Result<_>>()?;
    Ok(Choice { members, log_prior, messages, near: near.to_vec() })
}
