//! Several releases together: on the same records, and on disjoint groups of records.
//!
//! Profiles of pairs compose through their privacy loss distributions, bounds from Renyi divergences through the sum of
//! the divergences, and where both kinds meet the better of two ways is taken at each epsilon (docs/composition.md).

use std::sync::Arc;

use super::{Adjacency, Guarantee, Node, Recipe, Unit};
use crate::rounding::{multiple_up, sum_up, total_up};
use crate::tables::{Map, Set};
use crate::{Error, Result};

/// Up to so many different groups every pair of them is composed; beyond, their maxima are.
const MOST_GROUPS: usize = 8;

type Parts = Vec<(Arc<Node>, u64)>;

impl Guarantee {
    /// Several releases from the same records, each so many times.
    ///
    /// # Errors
    /// If nothing is released, or the adjacencies or the units differ.
    pub fn compose(parts: &[(&Self, u64)]) -> Result<Self> {
        let adjacency = common_adjacency(parts.iter().map(|part| part.0))?;
        let unit = common_unit(parts.iter().map(|part| part.0))?;
        let kept: Vec<(&Self, u64)> = parts.iter().copied().filter(|part| part.1 > 0).collect();
        if kept.is_empty() {
            return Err(Error::parameter("counts", "not all be zero", "only zeros"));
        }
        if let [(only, 1)] = kept[..] {
            return Ok(only.clone());
        }
        let direction = |i: usize| composed(kept.iter().map(|(part, times)| (&part.directions()[i], *times)));
        let directions = (0..adjacency.directions()).map(direction).collect::<Result<_>>()?;
        let error = total_up(kept.iter().map(|(part, times)| multiple_up(*times, part.sampling_error())));
        // Products of dominating pairs dominate; whether neighbours attain all of them at once is not known here.
        Ok(Self::new(adjacency, directions, below_one(error)?)?.of_unit(unit))
    }

    /// The same through the sum of the Renyi divergences alone.
    ///
    /// # Errors
    /// As for [`Guarantee::compose`].
    pub fn compose_renyi(parts: &[(&Self, u64)]) -> Result<Self> {
        let adjacency = common_adjacency(parts.iter().map(|part| part.0))?;
        let unit = common_unit(parts.iter().map(|part| part.0))?;
        let direction = |i: usize| {
            let column = parts.iter().map(|(part, times)| (Arc::clone(&part.directions()[i]), *times));
            Node::new(Recipe::RenyiSum(column.collect(), true))
        };
        let directions = (0..adjacency.directions()).map(direction).collect::<Result<_>>()?;
        let error = total_up(parts.iter().map(|(part, times)| multiple_up(*times, part.sampling_error())));
        Ok(Self::new(adjacency, directions, below_one(error)?)?.of_unit(unit))
    }

    /// Releases from disjoint groups of the records, each guarantee under add/remove: within a group, records come and go.
    ///
    /// A record is in one group, told by the record itself. Adding or removing it touches that group only: the largest cost
    /// counts. Replacing it may take it from one group and put it into another: a removal there, an addition here.
    ///
    /// # Errors
    /// If there is no group, or one of them is not under add/remove, or is for persons, who may be in several groups.
    pub fn compose_disjoint(groups: &[&Self], adjacency: Adjacency) -> Result<Self> {
        of_records(groups)?;
        if common_adjacency(groups.iter().copied())? != Adjacency::AddRemove {
            let rule = "be under 'add_remove' for disjoint groups: records enter and leave a group";
            return Err(Error::parameter("curves", rule, "'replace'"));
        }
        let distinct = |i: usize| {
            let mut seen = Set::default();
            let nodes = groups.iter().map(|group| Arc::clone(&group.directions()[i]));
            nodes.filter(|node| seen.insert(Arc::clone(node))).collect::<Vec<_>>()
        };
        let (mut removed, mut added) = (distinct(0), distinct(1));
        // The two largest: a record touches so many groups.
        let largest =
            groups.iter().map(|group| group.sampling_error()).fold((0.0_f64, 0.0_f64), |(first, second), x| {
                if x > first { (x, first) } else { (first, second.max(x)) }
            });
        if adjacency == Adjacency::AddRemove {
            return Self::new(adjacency, vec![maximum(removed)?, maximum(added)?], largest.0);
        }
        if removed.len() * added.len() > MOST_GROUPS * MOST_GROUPS {
            (removed, added) = (vec![maximum(removed)?], vec![maximum(added)?]);
        }
        let moves = removed.iter().flat_map(|out| added.iter().map(move |into| [(out, 1), (into, 1)]));
        let pairs = moves.map(|both| composed(both.into_iter())).collect::<Result<_>>()?;
        Self::new(adjacency, vec![maximum(pairs)?], below_one(sum_up(largest.0, largest.1))?)
    }

    /// Releases from parts of the records, where the place of a record says which part it is in, and not what it holds.
    ///
    /// Neighbours that replace a record differ in one part. A release may use what those of other parts said before it.
    /// Proof: let parts up to i be released one after the other. If the neighbours differ in part i, what came before has
    /// the same law for both, what comes after is post-processing with parts that are equal; given what came before, the
    /// release of part i has the profile of that part, and a mixture whose weights are the same for both has no larger
    /// one. So the largest profile bounds all of them.
    ///
    /// # Errors
    /// If there is no part, or one of them is not under replacement: records that come or go move the places of others; or
    /// if one is for persons, whose records may be in several parts.
    pub fn compose_parts(parts: &[&Self]) -> Result<Self> {
        of_records(parts)?;
        if common_adjacency(parts.iter().copied())? != Adjacency::Replace {
            let rule = "be under 'replace' for parts by place: a record that comes or goes moves the places of others";
            return Err(Error::parameter("curves", rule, "'add_remove'"));
        }
        let mut seen = Set::default();
        let nodes = parts.iter().map(|part| Arc::clone(&part.directions()[0]));
        let distinct = nodes.filter(|node| seen.insert(Arc::clone(node))).collect();
        let error = parts.iter().map(|part| part.sampling_error()).fold(0.0, f64::max);
        Self::new(Adjacency::Replace, vec![maximum(distinct)?], error)
    }
}

/// The adjacency of all guarantees.
fn common_adjacency<'a>(guarantees: impl IntoIterator<Item = &'a Guarantee>) -> Result<Adjacency> {
    let mut guarantees = guarantees.into_iter().map(Guarantee::adjacency);
    let first = guarantees.next().ok_or_else(|| Error::parameter("curves", "hold at least one curve", "none"))?;
    if guarantees.any(|adjacency| adjacency != first) {
        return Err(Error::parameter("curves", "all be of the same adjacency", "'replace' and 'add_remove'"));
    }
    Ok(first)
}

/// The unit of all guarantees. What is spent for one unit says nothing of another: docs/persons.md has examples both ways.
fn common_unit<'a>(guarantees: impl IntoIterator<Item = &'a Guarantee>) -> Result<Unit> {
    let mut units = guarantees.into_iter().map(Guarantee::unit);
    let first = units.next().cloned().unwrap_or_default();
    match units.find(|unit| **unit != first) {
        Some(other) => Err(Error::parameter("curves", "all be for the same unit", format!("{first} and {other}"))),
        None => Ok(first),
    }
}

/// Refuses persons where each record has a part of its own.
fn of_records(parts: &[&Guarantee]) -> Result<()> {
    match parts.iter().map(|part| part.unit()).find(|unit| **unit != Unit::default()) {
        Some(unit) => {
            let rule = "be for single records: a person may have records in several parts, and all of them count then";
            Err(Error::parameter("curves", rule, format!("one for {unit}")))
        }
        None => Ok(()),
    }
}

/// A sum of sampling errors as one.
fn below_one(error: f64) -> Result<f64> {
    if error < 1.0 { Ok(error) } else { Err(Error::parameter("sampling_error", "come to less than 1 in all", error)) }
}

fn maximum(mut nodes: Vec<Arc<Node>>) -> Result<Arc<Node>> {
    if nodes.len() == 1 { Ok(nodes.remove(0)) } else { Node::new(Recipe::Maximum(nodes)) }
}

/// One profile for all parts, in the tightest way that their kinds allow.
fn composed<'a>(parts: impl Iterator<Item = (&'a Arc<Node>, u64)>) -> Result<Arc<Node>> {
    let parts = merged(parts);
    if let [(only, 1)] = &parts[..] {
        return Ok(Arc::clone(only));
    }
    let (mut pairs, others): (Parts, Parts) = parts.iter().cloned().partition(|(node, _)| node.profile().is_pair());
    if others.is_empty() {
        return Node::new(Recipe::Composition(pairs));
    }
    let by_divergence = Node::new(Recipe::RenyiSum(parts, true))?;
    if pairs.is_empty() {
        return Ok(by_divergence);
    }
    // A bound of delta at every real epsilon is as good as its convex minorant, which is a profile.
    let bound = match &others[..] {
        [(only, 1)] => Arc::clone(only),
        _ => Node::new(Recipe::RenyiSum(others, true))?,
    };
    pairs.push((bound, 1));
    Node::new(Recipe::Minimum(by_divergence, Node::new(Recipe::Composition(pairs))?))
}

/// The parts of the parts, equal ones counted together, in the order in which they are met.
fn merged<'a>(parts: impl Iterator<Item = (&'a Arc<Node>, u64)>) -> Parts {
    let mut places: Map<Arc<Node>, usize> = Map::default();
    let mut merged: Parts = Vec::new();
    for (node, count) in parts {
        for (part, times) in node.parts() {
            let times = times.saturating_mul(count);
            let place = *places.entry(Arc::clone(&part)).or_insert(merged.len());
            match merged.get_mut(place) {
                Some(known) => known.1 = known.1.saturating_add(times),
                None => merged.push((part, times)),
            }
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::super::{Leaf, Real};
    use super::*;

    fn gaussian(mu: f64) -> Guarantee {
        Guarantee::symmetric(Adjacency::Replace, Node::leaf(Leaf::Gaussian { mu: Real(mu) }).unwrap()).unwrap()
    }

    #[test]
    fn equal_parts_are_counted_together_and_others_are_not() {
        let (a, b) = (gaussian(0.1), gaussian(0.1_f64.next_up()));
        let inner = Guarantee::compose(&[(&a, 2), (&b, 1)]).unwrap();
        let whole = Guarantee::compose(&[(&inner, 3), (&a, 1)]).unwrap();
        let counts: Vec<u64> = whole.directions()[0].parts().into_iter().map(|part| part.1).collect();
        assert_eq!(counts, [7, 3]);
    }

    #[test]
    fn sampling_errors_add_up_and_stay_below_one() {
        let off = gaussian(0.1).with_sampling_error(0.1).unwrap();
        assert!(Guarantee::compose(&[(&off, 3)]).unwrap().sampling_error() >= 0.3);
        assert!(Guarantee::compose(&[(&off, 10)]).is_err());
    }

    #[test]
    fn parts_by_place_cost_what_the_costliest_does() {
        let off = gaussian(0.3).with_sampling_error(1e-9).unwrap();
        let (large, small) = (gaussian(1.0), gaussian(0.1));
        let both = Guarantee::compose_parts(&[&small, &large, &small]).unwrap();
        for epsilon in [0.0, 0.5, 3.0] {
            assert_eq!(both.delta(epsilon), large.delta(epsilon));
        }
        assert_eq!(Guarantee::compose_parts(&[&small, &off]).unwrap().sampling_error(), 1e-9);
        let other = Guarantee::symmetric(Adjacency::AddRemove, gaussian(1.0).directions()[0].clone()).unwrap();
        assert!(Guarantee::compose_parts(&[&other]).is_err() && Guarantee::compose_parts(&[]).is_err());
    }

    #[test]
    fn what_is_released_zero_times_does_not_count() {
        let (a, b) = (gaussian(1.0), gaussian(0.5));
        assert!(Guarantee::compose(&[(&a, 0), (&b, 0)]).is_err());
        assert_eq!(Guarantee::compose(&[(&a, 0), (&b, 1)]).unwrap(), b);
    }

    #[test]
    fn a_record_touches_one_group_and_one_that_moves_two() {
        let group = |error: f64| {
            let both_ways = Guarantee::symmetric(Adjacency::AddRemove, gaussian(1.0).directions()[0].clone()).unwrap();
            both_ways.with_sampling_error(error).unwrap()
        };
        for errors in [[1.0, 4.0, 2.0], [4.0, 1.0, 2.0], [2.0, 1.0, 4.0]] {
            let groups = errors.map(|error| group(error * 2.0_f64.powi(-40)));
            let error = |adjacency| {
                Guarantee::compose_disjoint(&groups.iter().collect::<Vec<_>>(), adjacency).unwrap().sampling_error()
            };
            assert_eq!(error(Adjacency::AddRemove), 4.0 * 2.0_f64.powi(-40));
            assert_eq!(error(Adjacency::Replace), 6.0 * 2.0_f64.powi(-40));
        }
    }

    #[test]
    fn units_do_not_mix() {
        let named = |name: &str| gaussian(1.0).of_unit(Unit::named(name).unwrap());
        let (record, patient, household) = (gaussian(1.0), named("patient"), named("household"));
        for other in [&record, &household] {
            assert!(Guarantee::compose(&[(&patient, 1), (other, 1)]).is_err());
            assert!(Guarantee::compose(&[(&patient, 1), (other, 0)]).is_err());
            assert!(Guarantee::compose_renyi(&[(&patient, 1), (other, 1)]).is_err());
        }
        for both in [
            Guarantee::compose(&[(&patient, 2), (&patient, 1)]).unwrap(),
            Guarantee::compose_renyi(&[(&patient, 1), (&patient, 1)]).unwrap(),
            patient.with_sampling_error(1e-9).unwrap(),
        ] {
            assert_eq!(both.unit(), patient.unit());
        }
        assert_ne!(record, patient);
    }

    #[test]
    fn persons_are_in_several_groups() {
        let unit = Unit::named("patient").unwrap();
        let both_ways = Guarantee::symmetric(Adjacency::AddRemove, gaussian(1.0).directions()[0].clone()).unwrap();
        assert!(
            Guarantee::compose_disjoint(&[&both_ways.clone().of_unit(unit.clone())], Adjacency::AddRemove).is_err()
        );
        assert!(Guarantee::compose_parts(&[&gaussian(1.0).of_unit(unit)]).is_err());
        assert!(Guarantee::compose_disjoint(&[&both_ways], Adjacency::AddRemove).is_ok());
    }

    #[test]
    fn adjacencies_do_not_mix() {
        let other = Guarantee::symmetric(Adjacency::AddRemove, gaussian(1.0).directions()[0].clone()).unwrap();
        assert!(Guarantee::compose(&[(&gaussian(1.0), 1), (&other, 1)]).is_err());
        assert!(Guarantee::compose_disjoint(&[&gaussian(1.0)], Adjacency::Replace).is_err());
        assert!(Guarantee::compose_disjoint(&[&other, &other], Adjacency::Replace).is_ok());
    }
}
