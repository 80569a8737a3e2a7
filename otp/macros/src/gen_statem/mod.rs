//! The attribute `#[gen_statem]`: makes a state machine of a block of callbacks.

mod own;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Ident, Result, Type};

use crate::behaviour::{
    self, Method, Model, Problems, Role, Scheduler, Shape, api, arm, carried, description, names, show, split,
    there_are,
};

const SHAPE: Shape = Shape {
    attribute: "gen_statem",
    one: "a gen_statem",
    roles: &[
        Role::Call,
        Role::Cast,
        Role::Info,
        Role::Event,
        Role::Enter,
        Role::AfterInit,
        Role::Timeout,
        Role::Terminate,
        Role::Upgrade,
    ],
    init: "fn init(argument) -> Init<(State, Self)>",
    types: &["state"],
    taken: &[
        "start_link",
        "start_link_as",
        "start_pool",
        "call",
        "callback_mode",
        "handle_event",
        "terminate",
        "code_change",
        "format_status",
    ],
    may_stay: true,
    in_states: true,
    answer: |name| quote! { ::otp::statem::IntoAnswer<#name> },
};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    behaviour::expand(arguments, item, &SHAPE, check, code)
}

/// The type of the states.
fn check(model: &Model, mut wrong: Problems) -> Result<Type> {
    let state = model.options.types.iter().find(|(word, _)| word == "state").map(|(_, ty)| ty.clone());
    if state.is_none() {
        wrong
            .add(&model.name, "say what its states are: #[gen_statem(state = State)], where State is an enum of yours");
    }
    for (role, method) in &model.callbacks {
        let count = method.arguments.len();
        if *role == Role::Info && count != 1 {
            wrong.add(&method.name, "#[info] takes the state and the message");
        }
        if *role == Role::Enter && count != 2 {
            wrong.add(&method.name, "#[enter] takes two states: the one that is left and the one that is entered");
        }
        if *role == Role::Call && method.caller.is_none() && method.result.as_ref().is_some_and(is_step_alone) {
            wrong.add(
                &method.result,
                "a #[call] says what it answers: `Step<Self, Reply>`; or it takes `caller: Caller<Reply>` and answers later",
            );
        }
        for (name, ty) in &method.arguments {
            if *role != Role::Enter && matches!(ty, Type::Reference(_)) {
                wrong.add(ty, &format!("`{name}` comes in a message of its own, so it is taken as a value"));
            }
        }
    }
    wrong.finish()?;
    state.ok_or_else(|| syn::Error::new_spanned(&model.name, "no state"))
}

/// Whether it is `Step<Self>`, without a reply.
fn is_step_alone(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last().filter(|last| last.ident == "Step") else { return false };
    matches!(&last.arguments, syn::PathArguments::AngleBracketed(generic) if generic.args.len() < 2)
}

fn code(model: &Model, state: &Type) -> TokenStream {
    let (block, name) = (&model.block, &model.name);
    let arguments = names(&model.init);
    let begin = if model.init.waits { format_ident!("begun_later") } else { format_ident!("begun") };
    let calls = model.of(Role::Call).map(|method| arm(method, &answered(name, method)));
    let casts = model.of(Role::Cast).map(|method| arm(method, &run(method)));
    let events = model.of(Role::Event).map(|method| arm(method, &run(method)));
    let timeouts = model.of(Role::Timeout).map(|method| arm(method, &run(method)));
    let infos = model.of(Role::Info).map(|method| {
        let (run, (names, types)) = (run(method), split(method));
        quote! {
            if let ::core::result::Result::Ok(#(#names)*) = <#(#types)* as ::otp::Data>::decode(otp_request) { #run }
        }
    });
    let started = model.of(Role::AfterInit).map(|method| {
        let run = run(method);
        quote! { if otp_request.is(::otp::atom!("$started")) { #run } }
    });
    let enter = model.of(Role::Enter).map(enter);
    let terminate = model.of(Role::Terminate).map(|method| {
        let (run, names) = (run(method), names(method));
        quote! { #(let #names = otp_reason;)* #run }
    });
    let [no_call, no_cast, no_event, no_timeout] =
        [("call", Role::Call), ("cast", Role::Cast), ("event", Role::Event), ("timeout", Role::Timeout)]
            .map(|(what, role)| there_are(what, model.of(role)));
    let ((event_enum, event), (timeout_enum, timeout)) = (own::own(model, Role::Event), own::own(model, Role::Timeout));
    let kind = quote! { Statem(<#state as ::otp::Data>::erlang_type) };
    let (api, description, show, restore) = (api(model), description(model, &kind), show(model), restore(model));
    let done = quote! { ::core::result::Result::<::otp::vm::Term<'a>, ::otp::Malformed> };
    let (host, at) = (quote! { otp_host: &mut ::otp::host::Host<Self> }, quote! { otp_at: ::otp::host::At<'a, '_> });
    let request = quote! { otp_request: ::otp::vm::Term<'a> };
    quote! {
        #block

        #event_enum

        #timeout_enum

        impl ::otp::statem::Machine for #name {
            type State = #state;
            type Timeout = #timeout;
            type Event = #event;
        }

        #[allow(unused_variables, unreachable_code)]
        impl ::otp::GenStatem for #name {
            fn start(argument: Self::Argument) -> ::otp::host::Begin<Self> {
                let (#(#arguments,)*) = argument;
                ::otp::statem::#begin(Self::init(#(#arguments),*))
            }

            fn call<'a>(#host, #at, otp_state: #state, otp_from: ::otp::statem::From<'a>, #request) -> #done {
                let otp_elements = otp_request.tuple();
                #(#calls)*
                ::core::result::Result::Err(::otp::Malformed::expected(#no_call))
            }

            fn cast<'a>(#host, #at, otp_state: #state, #request) -> #done {
                let otp_elements = otp_request.tuple();
                #(#casts)*
                ::core::result::Result::Err(::otp::Malformed::expected(#no_cast))
            }

            fn info<'a>(#host, #at, otp_state: #state, #request) -> #done {
                #(#infos)*
                ::core::result::Result::Err(::otp::Malformed::expected("a message that it has an #[info] for"))
            }

            fn event<'a>(#host, #at, otp_state: #state, #request) -> #done {
                let otp_elements = otp_request.tuple();
                #(#started)*
                #(#events)*
                ::core::result::Result::Err(::otp::Malformed::expected(#no_event))
            }

            fn timeout<'a>(#host, #at, otp_state: #state, #request) -> #done {
                let otp_elements = otp_request.tuple();
                #(#timeouts)*
                ::core::result::Result::Err(::otp::Malformed::expected(#no_timeout))
            }

            fn enter<'a>(#host, #at, otp_from: #state, otp_state: #state) -> #done {
                #(#enter)*
                ::core::result::Result::Ok(::otp::Entered::<Self>::keep().tell(otp_at))
            }

            fn terminate<'a>(#host, #at, otp_state: #state, otp_reason: ::otp::Reason) -> #done {
                #(#terminate)*
                ::core::result::Result::Ok(::otp::Step::<Self>::keep().tell(otp_at))
            }

            #show

            #restore
        }

        ::otp::private::inventory::submit! {
            ::otp::process::Behaviour {
                module: <#name as ::otp::Startable>::module,
                at: ::core::concat!(::core::file!(), ":", ::core::line!()),
                init: ::otp::statem::start::<#name>,
                restore: ::core::option::Option::Some(::otp::statem::restore::<#name>),
                describe: || #description,
            }
        }

        #api
    }
}

/// How a state is handed to a callback that takes it as `ty`.
fn passed(ty: &Type, value: &TokenStream) -> TokenStream {
    if matches!(ty, Type::Reference(_)) {
        quote! { &#value }
    } else {
        quote! { #value }
    }
}

/// What the method is called with, after `self`.
fn passed_all(method: &Method) -> TokenStream {
    let state = method.state.as_ref().map(|(_, ty)| passed(ty, &quote! { otp_state }));
    let names = names(method);
    let caller = method.caller.as_ref().map(|_| quote! { otp_caller });
    quote! { #state, #(#names,)* #caller }
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
    let (name, arguments) = (&method.name, passed_all(method));
    let caller = method.caller.as_ref().map(|reply| quote! { let otp_caller = otp_from.keep::<#reply>(); });
    let elsewhere = elsewhere(method);
    if method.waits {
        return quote! {
            #caller
            return otp_host.run(otp_at, move |mut otp_data| async move {
                let otp_step = otp_data.#name(#arguments).await;
                ::otp::statem::finish(::otp::statem::IntoStep::<Self>::into_step(otp_step));
                (otp_data, ::otp::Next::Wait)
            });
        };
    }
    quote! {
        #elsewhere
        #caller
        let otp_step = otp_host.state()?.#name(#arguments);
        return ::core::result::Result::Ok(::otp::statem::IntoStep::<Self>::into_step(otp_step).tell(otp_at));
    }
}

/// The same for a call.
fn answered(machine: &Ident, method: &Method) -> TokenStream {
    if method.caller.is_some() {
        return run(method);
    }
    let (name, arguments, elsewhere) = (&method.name, passed_all(method), elsewhere(method));
    if method.waits {
        return quote! {
            let otp_caller = otp_from.keep();
            return otp_host.run(otp_at, move |mut otp_data| async move {
                let otp_step = otp_data.#name(#arguments).await;
                let otp_step = ::otp::statem::IntoAnswer::<#machine>::into_answer(otp_step);
                ::otp::statem::finish_call(otp_step, &otp_caller);
                (otp_data, ::otp::Next::Wait)
            });
        };
    }
    quote! {
        #elsewhere
        let otp_step = otp_host.state()?.#name(#arguments);
        let otp_step = ::otp::statem::IntoAnswer::<#machine>::into_answer(otp_step);
        return ::core::result::Result::Ok(otp_from.answer(otp_at, otp_step));
    }
}

fn enter(method: &Method) -> TokenStream {
    let (name, (_, types)) = (&method.name, split(method));
    let values = [quote! { otp_from }, quote! { otp_state }];
    let states = types.iter().zip(&values).map(|(ty, value)| passed(ty, value));
    let (arguments, elsewhere) = (quote! { #(#states),* }, elsewhere(method));
    let told = quote! { ::otp::statem::IntoEntered::<Self>::into_entered(otp_entered) };
    if method.waits {
        return quote! {
            return otp_host.run(otp_at, move |mut otp_data| async move {
                let otp_entered = otp_data.#name(#arguments).await;
                ::otp::statem::finish_entered(#told);
                (otp_data, ::otp::Next::Wait)
            });
        };
    }
    quote! {
        #elsewhere
        let otp_entered = otp_host.state()?.#name(#arguments);
        return ::core::result::Result::Ok(#told.tell(otp_at));
    }
}

/// State and data from their terms, or from those that an older build had.
fn restore(model: &Model) -> TokenStream {
    let older = model.of(Role::Upgrade).map(|method| {
        let (upgrade, (_, types)) = (&method.name, split(method));
        let (old_state, old_data) = (types[0], carried(types[1], &quote! { otp_data }));
        quote! {
            .or_else(|otp_wrong| {
                let old = <#old_state as ::otp::Data>::decode(otp_state)
                    .and_then(|state| ::core::result::Result::Ok((state, #old_data?)));
                old.map(|(state, data)| Self::#upgrade(state, data)).map_err(|_| otp_wrong)
            })
        }
    });
    let own = carried(&model.name, &quote! { otp_data });
    quote! {
        fn restore(
            otp_state: ::otp::vm::Term<'_>,
            otp_data: ::otp::vm::Term<'_>,
        ) -> ::core::result::Result<(Self::State, Self), ::otp::Malformed> {
            #[allow(unused_imports)]
            use ::otp::private::{ByCarry as _, ByItsData as _, ByNothing as _};
            <Self::State as ::otp::Data>::decode(otp_state)
                .and_then(|state| ::core::result::Result::Ok((state, #own?)))
                #(#older)*
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::said;

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let block = quote! {
            impl Door {
                fn init() -> Init<(DoorState, Self)> { todo!() }
                #[call] fn ask(&mut self) -> u32 { 1 }
                #[call] fn start_link(&mut self, state: DoorState) {}
                #[upgrade] fn from_old(old: u32) -> Self { Door }
            }
        };
        assert_eq!(
            said(&expand(quote! { state = DoorState }, block)),
            [
                "after `&mut self` comes the state: `state: DoorState`, or `state: &DoorState`",
                "its module in Erlang has a function of this name, which OTP calls: choose another",
                "this takes state and data as they were and returns them as they are now: `fn name(state: OldState, old: Old) -> \
                 (State, Self)`",
            ]
        );
        let block = quote! {
            impl Door {
                fn init() -> Init<(DoorState, Self)> { todo!() }
                #[call] fn ask(&mut self, state: DoorState) -> Step<Self> { Step::keep() }
                #[cast] fn say(&mut self, state: DoorState, text: &str) {}
                #[enter] fn entered(&mut self, to: DoorState) {}
                #[info] fn told(&mut self, state: DoorState) {}
            }
        };
        assert_eq!(
            said(&expand(quote! {}, block)),
            [
                "say what its states are: #[gen_statem(state = State)], where State is an enum of yours",
                "a #[call] says what it answers: `Step<Self, Reply>`; or it takes `caller: Caller<Reply>` and answers later",
                "`text` comes in a message of its own, so it is taken as a value",
                "#[enter] takes two states: the one that is left and the one that is entered",
                "#[info] takes the state and the message",
            ]
        );
    }
}
