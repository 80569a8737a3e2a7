//! Mailboxes: messages of a type of one's own within a callback, received past the other messages in the queue.

use otp::testing::evaluate;
use otp::{Any, Mailbox, Pid, Task};

#[otp::test]
async fn a_mailbox_is_received_past_other_messages() {
    let mut mailbox = Mailbox::<u32>::new().await.expect("a mailbox");
    (0..1000_u32).for_each(|n| Pid::own().send(&n));
    let address = mailbox.address();
    let task = Task::spawn(async move { (1..=3).for_each(|n| address.send(&n)) });
    for n in 1..=3 {
        assert_eq!(mailbox.receive().await, Ok(n));
    }
    task.await.expect("it ends");
    let left = evaluate("element(2, process_info(self(), message_queue_len))").await.expect("a value");
    assert_eq!(left.get(), Ok(1000));
}

#[otp::test]
async fn what_is_of_another_type_is_an_error_and_what_comes_too_late_is_gone() {
    let mut mailbox = Mailbox::<u32>::new().await.expect("a mailbox");
    let address: otp::Address<String> = Any::of(&mailbox.address()).get().expect("an address");
    address.send(&"text".into());
    assert!(mailbox.receive().await.is_err());
    drop(mailbox);
    otp::yield_now().await;
    address.send(&"late".into());
    let left = evaluate("element(2, process_info(self(), message_queue_len))").await.expect("a value");
    assert_eq!(left.get(), Ok(0));
}
