//! Hash tables whose order does not depend on the operating system: the standard ones ask it for entropy, and panic
//! where it has none. Keys are public or sampled, so nobody can choose them to collide.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher};

pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;
pub(crate) type Set<K> = HashSet<K, BuildHasherDefault<DefaultHasher>>;
