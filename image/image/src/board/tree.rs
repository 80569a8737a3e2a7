//! A flattened device tree, as the kernel's build leaves it, with more words for the kernel.

/// What begins it, and what begins, ends and stands in a node.
const MAGIC: u32 = 0xd00d_feed;
const BEGIN: u32 = 1;
const END: u32 = 2;
const PROPERTY: u32 = 3;
const NOTHING: u32 = 4;

/// Places of numbers in the header.
const SIZE: usize = 4;
const STRUCTURE: usize = 8;
const STRINGS: usize = 12;
const STRINGS_SIZE: usize = 32;
const STRUCTURE_SIZE: usize = 36;

/// The tree with `words` behind those that are the kernel's own already. `None` where it is no tree, or one without a command line.
pub(super) fn with_words(tree: &[u8], words: &str) -> Option<Vec<u8>> {
    let header = |at: usize| number(tree, at);
    if header(0)? != MAGIC {
        return None;
    }
    let part = |at: u32, size: u32| tree.get(at as usize..(at as usize).checked_add(size as usize)?);
    let structure = part(header(STRUCTURE)?, header(STRUCTURE_SIZE)?)?;
    let strings = part(header(STRINGS)?, header(STRINGS_SIZE)?)?;
    let (from, to) = command_line(structure, strings)?;
    let known = structure[from..to].strip_suffix(&[0])?;
    let mut line = [known, b" ", words.as_bytes(), &[0]].concat();
    let length = (line.len() as u32).to_be_bytes();
    line.resize(line.len().next_multiple_of(4), 0);
    // The length stands before the name, and that before the value.
    let before = [&structure[..from - 8], &length[..], &structure[from - 4..from]].concat();
    let structure_at = header(STRUCTURE)? as usize;
    let structure = [&before[..], &line, &structure[to.next_multiple_of(4)..]].concat();
    let mut made = [tree.get(..structure_at)?, &structure[..], strings].concat();
    let strings_at = structure_at + structure.len();
    for (at, value) in [(SIZE, made.len()), (STRINGS, strings_at), (STRUCTURE_SIZE, structure.len())] {
        made[at..at + 4].copy_from_slice(&(value as u32).to_be_bytes());
    }
    Some(made)
}

/// Where the value of `/chosen/bootargs` stands in the structure.
fn command_line(structure: &[u8], strings: &[u8]) -> Option<(usize, usize)> {
    let mut path = Vec::new();
    let mut at = 0;
    loop {
        let token = number(structure, at)?;
        at += 4;
        match token {
            BEGIN => {
                let name = text(structure, at)?;
                path.push(name);
                at = (at + name.len() + 1).next_multiple_of(4);
            }
            END => drop(path.pop()?),
            PROPERTY => {
                let (length, name) = (number(structure, at)? as usize, number(structure, at + 4)? as usize);
                let (from, to) = (at + 8, (at + 8).checked_add(length)?);
                structure.get(from..to)?;
                if path == [&b""[..], b"chosen"] && text(strings, name)? == b"bootargs" {
                    return Some((from, to));
                }
                at = to.next_multiple_of(4);
            }
            NOTHING => {}
            _ => return None,
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn text(bytes: &[u8], at: usize) -> Option<&[u8]> {
    bytes.get(at..)?.split(|byte| *byte == 0).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVER: u32 = 9;

    fn structure(words: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut add = |numbers: &[u32], text: &[u8]| {
            numbers.iter().for_each(|number| bytes.extend(number.to_be_bytes()));
            bytes.extend(text);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        };
        add(&[BEGIN], b"\0");
        add(&[PROPERTY, 5, 9], b"MPS2\0");
        add(&[BEGIN], b"cpus\0");
        add(&[PROPERTY, 4, 0], b"one\0");
        add(&[END, BEGIN], b"chosen\0");
        let value = [words.as_bytes(), &[0]].concat();
        add(&[NOTHING, PROPERTY, value.len() as u32, 0], &value);
        add(&[END, END, OVER], b"");
        bytes
    }

    fn tree(words: &str) -> Vec<u8> {
        let (structure, strings) = (structure(words), b"bootargs\0model\0");
        let strings_at = 56 + structure.len();
        let size = strings_at + strings.len();
        let header =
            [MAGIC, size as u32, 56, strings_at as u32, 40, 17, 16, 0, strings.len() as u32, structure.len() as u32];
        let mut bytes: Vec<u8> = header.iter().flat_map(|number| number.to_be_bytes()).collect();
        bytes.resize(56, 0);
        [&bytes[..], &structure, strings].concat()
    }

    #[test]
    fn words_come_behind_the_kernels_own() {
        for own in ["quiet", "console=ttyMPS0 quiet", "a", "ab", "abc", "abcd"] {
            assert_eq!(with_words(&tree(own), "nohlt x=1"), Some(tree(&format!("{own} nohlt x=1"))), "{own}");
        }
    }

    #[test]
    fn what_is_no_tree_or_broken_off_gets_none() {
        let whole = tree("quiet");
        assert_eq!(with_words(b"", "nohlt"), None);
        let mut other = whole.clone();
        other[0] = 0;
        assert_eq!(with_words(&other, "nohlt"), None);
        for length in 0..whole.len() {
            assert_eq!(with_words(&whole[..length], "nohlt"), None, "{length}");
        }
        // Any byte may be another: it is a tree, or none.
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut other = whole.clone();
                other[at] = value;
                let _ = with_words(&other, "nohlt");
            }
        }
    }
}
