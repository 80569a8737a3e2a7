//! The attribute `#[gen_event]`: makes an event handler of a block of callbacks.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Result;

use crate::behaviour::{
    self, Method, Model, Problems, Role, Scheduler, Shape, arm, asked, description, names, shown, split, there_are,
};

const SHAPE: Shape = Shape {
    attribute: "gen_event",
    one: "a handler of events",
    roles: &[Role::Call, Role::Info, Role::Event, Role::Terminate, Role::TakeOver, Role::Upgrade],
    init: "fn init(argument) -> Init<Self>",
    types: &[],
    taken: &[
        "add_handler",
        "add_sup_handler",
        "delete_handler",
        "call",
        "handle_event",
        "handle_call",
        "handle_info",
        "terminate",
        "code_change",
        "format_status",
    ],
    may_stay: false,
    in_states: false,
    answer: |name| quote! { ::otp::event::IntoHandledReply<#name> },
};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    behaviour::expand(arguments, item, &SHAPE, check, |model, ()| code(model))
}

fn check(model: &Model, mut wrong: Problems) -> Result<()> {
    if model.options.trap_exit || model.options.off_heap {
        wrong.add(
            &model.name,
            "trap_exit and off_heap are for a process of its own; that of a handler is its manager's",
        );
    }
    if model.of(Role::Event).next().is_none() {
        wrong.add(&model.name, "a handler has an #[event]: `fn name(&mut self, event: Event)`");
    }
    for (role, method) in &model.callbacks {
        let count = method.arguments.len();
        match role {
            Role::Event | Role::Info if count != 1 => {
                wrong.add(&method.name, "this takes one argument: the event or the message");
            }
            Role::Call if method.caller.is_some() => {
                wrong.add(&method.name, "gen_event has a handler answer at once: this returns the reply");
            }
            Role::TakeOver if count == 0 || method.result.is_none() => {
                wrong.add(
                    &method.name,
                    "this takes what the other handler left and the arguments of the swap: `fn name(old: Option<Old>, \
                     argument) -> Init<Self>`",
                );
            }
            _ => {}
        }
    }
    wrong.finish()
}

fn code(model: &Model) -> TokenStream {
    let (block, name) = (&model.block, &model.name);
    let (init_names, init_types) = split(&model.init);
    let begin = begin(&quote! { init }, model.init.waits, &quote! { #(#init_names),* });
    let taking = |method: &Method| {
        let (run, (names, types)) = (run(method), split(method));
        quote! {
            if let ::core::result::Result::Ok(#(#names)*) = <#(#types)* as ::otp::Data>::decode(otp_request) { #run }
        }
    };
    let events = model.of(Role::Event).map(taking);
    let infos = model.of(Role::Info).map(taking);
    let calls = model.of(Role::Call).map(|method| arm(method, &answered(name, method)));
    let no_call = there_are("call", model.of(Role::Call));
    let handled = model.of(Role::Event).map(|method| {
        let types = split(method).1;
        quote! { impl ::otp::event::Handles<#(#types)*> for #name {} }
    });
    let (take_over, takes_over) = model.of(Role::TakeOver).next().map_or_else(
        || (quote! { ::core::result::Result::Err(::otp::Malformed::expected("no handler before this one")) }, None),
        |method| {
            let (code, takes) = self::take_over(model, method);
            (code, Some(takes))
        },
    );
    let last = model.of(Role::Terminate).next();
    let farewell = last.and_then(|method| method.result.as_ref()).map_or_else(|| quote! { () }, |ty| quote! { #ty });
    let terminate = last.map(terminate);
    let api = asked(
        model,
        &quote! { ::otp::event::Handler },
        &format!("What can be asked of a `Handler<{name}>` in its manager."),
    );
    let taken = model.of(Role::Event).flat_map(|method| split(method).1);
    let kind = quote! { Event(|| [#(<#taken as ::otp::Data>::erlang_type()),*].join(" | ")) };
    let (description, shown) = (description(model, &kind), shown(model));
    let module = model.module();
    let done = quote! { ::core::result::Result::<::otp::vm::Term<'a>, ::otp::Malformed> };
    let parameters = quote! {
        otp_host: &mut ::otp::host::Host<Self>,
        otp_at: ::otp::host::At<'a, '_>,
        otp_request: ::otp::vm::Term<'a>
    };
    quote! {
        #block

        impl ::otp::event::EventHandler for #name {
            #module

            type Argument = (#(#init_types,)*);
            type Farewell = #farewell;
        }

        #(#handled)*

        #takes_over

        #[allow(unused_variables, unreachable_code)]
        impl ::otp::GenEvent for #name {
            fn start(argument: Self::Argument) -> ::otp::host::Begin<Self> {
                let (#(#init_names,)*) = argument;
                #begin
            }

            fn take_over(
                otp_old: ::otp::vm::Term<'_>,
                otp_argument: ::otp::vm::Term<'_>,
            ) -> ::core::result::Result<::otp::host::Begin<Self>, ::otp::Malformed> {
                #take_over
            }

            fn event<'a>(#parameters) -> #done {
                #(#events)*
                ::core::result::Result::Err(::otp::Malformed::expected("an event that it has an #[event] for"))
            }

            fn call<'a>(#parameters) -> #done {
                let otp_elements = otp_request.tuple();
                #(#calls)*
                ::core::result::Result::Err(::otp::Malformed::expected(#no_call))
            }

            fn info<'a>(#parameters) -> #done {
                #(#infos)*
                ::core::result::Result::Err(::otp::Malformed::expected("a message that it has an #[info] for"))
            }

            fn terminate<'a>(
                otp_host: &mut ::otp::host::Host<Self>,
                otp_at: ::otp::host::At<'a, '_>,
                otp_leaving: ::otp::event::Leaving,
            ) -> #done {
                #terminate
                ::core::result::Result::Ok(otp_at.farewell(&()))
            }

            #shown
        }

        ::otp::private::inventory::submit! {
            ::otp::process::Behaviour {
                module: <#name as ::otp::event::EventHandler>::module,
                at: ::core::concat!(::core::file!(), ":", ::core::line!()),
                init: ::otp::event::start::<#name>,
                restore: ::core::option::Option::Some(::otp::event::restore::<#name>),
                describe: || #description,
            }
        }

        #api
    }
}

/// The start of a state by one of its functions.
fn begin(function: &TokenStream, waits: bool, arguments: &TokenStream) -> TokenStream {
    if waits {
        quote! { ::otp::host::Begin::Later(::std::boxed::Box::pin(Self::#function(#arguments))) }
    } else {
        quote! { ::otp::host::Begin::Now(Self::#function(#arguments)) }
    }
}

/// How it takes the place of another, and that it can.
fn take_over(model: &Model, method: &Method) -> (TokenStream, TokenStream) {
    let (name, function, (names, types)) = (&model.name, &method.name, split(method));
    let (old, arguments) = (types[0], &types[1..]);
    let rest = &names[1..];
    let begin = begin(&quote! { #function }, method.waits, &quote! { otp_left, #(#rest),* });
    let code = quote! {
        let (otp_left, (#(#rest,)*)) =
            ::otp::event::decode_take_over::<#old, (#(#arguments,)*)>(otp_old, otp_argument)?;
        ::core::result::Result::Ok(#begin)
    };
    let takes = quote! {
        impl ::otp::event::TakesOver<#old> for #name {
            type Argument = (#(#arguments,)*);
        }
    };
    (code, takes)
}

/// Has it done again where it may take long, if it may.
fn elsewhere(method: &Method) -> Option<TokenStream> {
    let go = match method.scheduler {
        Scheduler::Normal => return None,
        Scheduler::DirtyCpu => format_ident!("to_dirty_cpu"),
        Scheduler::DirtyIo => format_ident!("to_dirty_io"),
    };
    Some(quote! { if !otp_at.is_dirty() { return ::core::result::Result::Ok(otp_at.#go()); } })
}

/// Runs a callback that nobody waits for, with its arguments, which are there under their names.
fn run(method: &Method) -> TokenStream {
    let (name, names, elsewhere) = (&method.name, names(method), elsewhere(method));
    let told = quote! { ::otp::event::IntoHandled::<Self>::into_handled(otp_handled) };
    if method.waits {
        return quote! {
            return otp_host.run(otp_at, move |mut otp_state| async move {
                let otp_handled = otp_state.#name(#(#names),*).await;
                ::otp::event::finish(#told);
                (otp_state, ::otp::Next::Wait)
            });
        };
    }
    quote! {
        #elsewhere
        let otp_handled = otp_host.state()?.#name(#(#names),*);
        return ::core::result::Result::Ok(#told.tell(otp_at));
    }
}

/// The same for a call.
fn answered(handler: &syn::Ident, method: &Method) -> TokenStream {
    let (name, names, elsewhere) = (&method.name, names(method), elsewhere(method));
    let told = quote! { ::otp::event::IntoHandledReply::<#handler>::into_handled(otp_handled) };
    if method.waits {
        return quote! {
            return otp_host.run(otp_at, move |mut otp_state| async move {
                let otp_handled = otp_state.#name(#(#names),*).await;
                ::otp::event::finish_reply(#told);
                (otp_state, ::otp::Next::Wait)
            });
        };
    }
    quote! {
        #elsewhere
        let otp_handled = otp_host.state()?.#name(#(#names),*);
        return ::core::result::Result::Ok(#told.tell_reply(otp_at));
    }
}

fn terminate(method: &Method) -> TokenStream {
    let (name, names) = (&method.name, names(method));
    if method.waits {
        return quote! {
            return otp_host.run(otp_at, move |mut otp_state| async move {
                #(let #names = otp_leaving;)*
                let otp_left = otp_state.#name(#(#names),*).await;
                ::otp::event::finish_farewell(&otp_left);
                (otp_state, ::otp::Next::Wait)
            });
        };
    }
    quote! {
        #(let #names = otp_leaving;)*
        let otp_left = otp_host.state()?.#name(#(#names),*);
        return ::core::result::Result::Ok(otp_at.farewell(&otp_left));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::said;

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let block = quote! {
            impl Log {
                fn init() -> Init<Self> { Ok(Log) }
                #[call] fn ask(&mut self, caller: Caller<u32>) {}
                #[call] fn terminate(&mut self) {}
                #[cast] fn add(&mut self) {}
                #[info] fn told(&mut self) {}
                #[take_over] fn next() -> Init<Self> { Ok(Log) }
            }
        };
        assert_eq!(
            said(&expand(quote! { trap_exit }, block)),
            [
                "a handler of events has no such callback",
                "its module in Erlang has a function of this name, which OTP calls: choose another",
                "trap_exit and off_heap are for a process of its own; that of a handler is its manager's",
                "a handler has an #[event]: `fn name(&mut self, event: Event)`",
                "gen_event has a handler answer at once: this returns the reply",
                "this takes one argument: the event or the message",
                "this takes what the other handler left and the arguments of the swap: `fn name(old: Option<Old>, argument) -> \
                 Init<Self>`",
            ]
        );
    }
}
