//! Supervision trees, and the names of the supervisors and workers in them.

use std::time::Duration;

use otp::testing::evaluate;
use otp::{Init, Server, Tree, gen_server, one_for_one, rest_for_one, supervisor, worker};

/// Knows whose child it is.
pub struct Leaf {
    of: String,
}

#[gen_server]
impl Leaf {
    fn init(of: String) -> Init<Self> {
        Ok(Leaf { of })
    }

    #[call]
    fn of(&mut self) -> String {
        self.of.clone()
    }
}

/// A branch with one leaf, whose name begins with that of the branch.
#[supervisor]
pub fn branch(name: String) -> Tree {
    let leaf = format!("{name}_leaf");
    one_for_one().intensity(5, Duration::from_secs(1)).child(worker::<Leaf>(name).name(leaf))
}

/// Several branches of one kind: with its own name, with another one, among all nodes.
#[supervisor]
pub fn trunk() -> Tree {
    rest_for_one()
        .child(supervisor::<branch>("plain".to_owned()))
        .child(supervisor::<branch>("left".to_owned()).name("left_branch"))
        .child(supervisor::<branch>("right".to_owned()).global_name("right_branch"))
}

#[otp::test]
async fn supervisors_of_one_kind_have_names_of_their_own() {
    evaluate("{ok, _} = exercises_trunk:start_link()").await.expect("the tree");
    for name in ["plain", "left", "right"] {
        let leaf = Server::<Leaf>::named(&format!("{name}_leaf"));
        assert_eq!(leaf.of().await.expect("an answer"), name);
    }
    let there = "[is_pid(P) || P <- [whereis(exercises_trunk), whereis(exercises_branch), whereis(left_branch), \
                 global:whereis_name(right_branch)]] ++ [whereis(right_branch) =:= undefined]";
    let there = evaluate(there).await.expect("the names");
    assert_eq!(there.get::<Vec<bool>>().expect("a list"), [true; 5]);
    // Their names are those in the tree, and one that is there already is not started again.
    let ids = evaluate(
        "lists:sort([Id || {Id, _, supervisor, [exercises_branch]} <- supervisor:which_children(exercises_trunk)])",
    )
    .await;
    let ids = ids.expect("the children").get::<Vec<otp::Name>>().expect("names");
    assert_eq!(
        ids.iter().map(otp::Name::as_str).collect::<Vec<_>>(),
        ["exercises_branch", "left_branch", "right_branch"]
    );
    let again = evaluate(
        "{error, {already_started, P}} = exercises_branch:start_link_as(left_branch, <<\"x\">>), P =:= whereis(left_branch)",
    );
    assert_eq!(again.await.expect("a refusal").get(), Ok(true));
}

#[otp::test]
async fn a_supervisor_with_a_name_is_started_anew_under_it() {
    evaluate("{ok, _} = exercises_branch:start_link_as(lone_branch, <<\"lone\">>)").await.expect("a branch");
    let leaf = Server::<Leaf>::named("lone_leaf");
    // For a moment nobody bears the name.
    let anew = "Before = whereis(lone_leaf), exit(Before, kill),
        Wait = fun Wait() ->
            case whereis(lone_leaf) of
                Before -> timer:sleep(1), Wait();
                undefined -> timer:sleep(1), Wait();
                After -> is_pid(After)
            end
        end, Wait()";
    assert_eq!(evaluate(anew).await.expect("another leaf").get(), Ok(true));
    assert_eq!(leaf.of().await.expect("an answer"), "lone");
}
