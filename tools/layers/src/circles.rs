//! Circles (cycles) in a directed graph.

/// For each set of vertices that all reach each other, a shortest circle in it, as the vertices along it. The vertices are the
/// numbers below `count`, the edges pairs of them.
pub fn circles(count: usize, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut next = vec![Vec::new(); count];
    for &(from, to) in edges {
        next[from].push(to);
    }
    let mut done = vec![false; count];
    let mut found = Vec::new();
    for start in 0..count {
        if done[start] {
            continue;
        }
        let Some(circle) = shortest(&next, start) else { continue };
        // Whoever is in a circle with this one is told with it.
        let from_here = reached(&next, start);
        for (other, &is) in from_here.iter().enumerate() {
            done[other] |= is && reached(&next, other)[start];
        }
        found.push(circle);
    }
    found
}

/// A shortest way from a vertex back to it.
fn shortest(next: &[Vec<usize>], start: usize) -> Option<Vec<usize>> {
    let mut before = vec![None; next.len()];
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for &to in &next[at] {
            if to == start {
                let mut way = vec![at];
                while way[way.len() - 1] != start {
                    way.push(before[way[way.len() - 1]]?);
                }
                way.reverse();
                return Some(way);
            }
            if before[to].is_none() {
                before[to] = Some(at);
                queue.push_back(to);
            }
        }
    }
    None
}

fn reached(next: &[Vec<usize>], start: usize) -> Vec<bool> {
    let mut reached = vec![false; next.len()];
    let mut left = vec![start];
    while let Some(at) = left.pop() {
        for &to in &next[at] {
            if !std::mem::replace(&mut reached[to], true) {
                left.push(to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::circles;

    #[test]
    fn a_circle_is_found_once_and_at_its_shortest() {
        assert!(circles(4, &[(0, 1), (1, 2), (0, 2), (2, 3)]).is_empty());
        assert_eq!(circles(3, &[(0, 1), (1, 2), (2, 0)]), [[0, 1, 2]]);
        assert_eq!(circles(4, &[(0, 1), (1, 2), (2, 0), (1, 0), (3, 0)]), [[0, 1]]);
        assert_eq!(circles(5, &[(0, 1), (1, 0), (1, 2), (3, 4), (4, 3)]), [[0, 1], [3, 4]]);
    }
}
