//! Node names: how the settings and flags give one, and which names Erlang accepts.

/// The host of nodes that only this machine can reach.
pub(crate) const LOOPBACK: &str = "127.0.0.1";

/// The name of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Name {
    /// As the application.
    #[default]
    Application,
    /// The node has no name, and cannot be reached.
    None,
    Given(String),
}

/// Checks that Erlang accepts the name of a node.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let (name, host) = name.split_once('@').unwrap_or((name, LOOPBACK));
    if name.is_empty() || !name.chars().all(plain) {
        return Err("a node's name is made of letters, digits, _ and -; a host may follow, as in shop@10.0.0.5".into());
    }
    if host.is_empty() || !host.chars().all(|letter| plain(letter) || letter == '.' || letter == ':') {
        return Err(format!("`{host}` is no host"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_erlang_would_not_take_are_refused() {
        assert!(["a", "a_1-b", "a@b.c", "a@::1"].iter().all(|name| check_name(name).is_ok()));
        assert!(["", "a b", "@b", "a@", "a@b@c", "ä"].iter().all(|name| check_name(name).is_err()));
    }
}
