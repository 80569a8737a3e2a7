//! The attributes of `kizami-otp`. Each attribute reads the user's code into a model (`behaviour::Model`) and writes code from
//! the model. All errors are reported at once, each at its place in the user's file.

mod behaviour;
mod bodies;
mod data;
mod gen_event;
mod gen_server;
mod gen_statem;
mod supervisor;
mod test;

use proc_macro::TokenStream;

/// Makes an `impl` block a gen_server; see the documentation of `otp`.
#[proc_macro_attribute]
pub fn gen_server(arguments: TokenStream, item: TokenStream) -> TokenStream {
    gen_server::expand(arguments.into(), item.into()).into()
}

/// Makes an `impl` block a handler of events, of a gen_event; see the documentation of `otp`.
#[proc_macro_attribute]
pub fn gen_event(arguments: TokenStream, item: TokenStream) -> TokenStream {
    gen_event::expand(arguments.into(), item.into()).into()
}

/// Makes an `impl` block a gen_statem; see the documentation of `otp`.
#[proc_macro_attribute]
pub fn gen_statem(arguments: TokenStream, item: TokenStream) -> TokenStream {
    gen_statem::expand(arguments.into(), item.into()).into()
}

/// Makes a function that returns a `Tree` a supervisor; see the documentation of `otp`.
#[proc_macro_attribute]
pub fn supervisor(arguments: TokenStream, item: TokenStream) -> TokenStream {
    supervisor::expand(arguments.into(), item.into()).into()
}

/// A test that runs inside of a VM, by `cargo otp test`; see the documentation of `otp::testing`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    test::expand(arguments.into(), item.into()).into()
}

/// Gives a struct or an enum its form in Erlang; see the documentation of `otp::Data`.
#[proc_macro_derive(Data, attributes(otp))]
pub fn data(item: TokenStream) -> TokenStream {
    data::expand(item.into(), data::Way::Data).into()
}

/// Lets a struct or an enum go over to the next build with the state that holds it; see the documentation of `otp::Carry`.
#[proc_macro_derive(Carry, attributes(otp))]
pub fn carry(item: TokenStream) -> TokenStream {
    data::expand(item.into(), data::Way::Carry).into()
}
