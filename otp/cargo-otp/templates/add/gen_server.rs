//! {{Name}}: a gen_server.

use otp::{Data, Init, gen_server};

/// Counts what it is told to count.
#[derive(Data)]
pub struct {{Name}} {
    count: u64,
}

#[gen_server]
impl {{Name}} {
    fn init() -> Init<Self> {
        Ok(Self { count: 0 })
    }

    /// Answers with how many were counted.
    #[call]
    fn count(&mut self) -> u64 {
        self.count
    }

    /// Counts `number` more.
    #[cast]
    fn add(&mut self, number: u64) {
        self.count += number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[otp::test]
    async fn what_is_added_is_counted() {
        let server = {{Name}}::start_link().await.unwrap();
        server.add(2);
        server.add(3);
        assert_eq!(server.count().await.unwrap(), 5);
    }
}
