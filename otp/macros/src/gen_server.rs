//! The attribute `#[gen_server]`: makes a gen_server of a block of callbacks.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Result;

use crate::behaviour::{
    self, Method, Model, Problems, Role, Scheduler, Shape, api, arm, description, names, shown, split, there_are,
};

const SHAPE: Shape = Shape {
    attribute: "gen_server",
    one: "a gen_server",
    roles: &[Role::Call, Role::Cast, Role::Info, Role::AfterInit, Role::Timeout, Role::Terminate, Role::Upgrade],
    init: "fn init(argument) -> Init<Self>",
    types: &[],
    taken: &["start_link", "start_link_as", "start_pool", "call"],
    may_stay: true,
    in_states: false,
    answer: |_| quote! { ::otp::IntoReply },
};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    behaviour::expand(arguments, item, &SHAPE, check, |model, ()| code(model))
}

fn check(model: &Model, mut wrong: Problems) -> Result<()> {
    for (role, method) in &model.callbacks {
        let answered = *role == Role::Call && method.caller.is_none();
        if let (Some(result), false, true) =
            (&method.result, answered || *role == Role::Upgrade, !method.returns("Next"))
        {
            wrong.add(
                result,
                "nobody waits for what this returns: it returns nothing, or `Next`, what the process does next",
            );
        }
        let count = method.arguments.len();
        if *role == Role::Info && count != 1 {
            wrong.add(&method.name, "#[info] takes one argument: the message");
        }
        if *role == Role::Timeout && count != 0 {
            wrong.add(&method.name, "#[timeout] takes `&mut self` and nothing else");
        }
    }
    if let Some(second) = model.of(Role::Timeout).nth(1) {
        wrong.add(&second.name, "there is one such callback already");
    }
    wrong.finish()
}

fn code(model: &Model) -> TokenStream {
    let (block, name) = (&model.block, &model.name);
    let argument_names = names(&model.init);
    let begin = if model.init.waits {
        quote! { ::otp::host::Begin::Later(::std::boxed::Box::pin(Self::init(#(#argument_names),*))) }
    } else {
        quote! { ::otp::host::Begin::Now(Self::init(#(#argument_names),*)) }
    };
    let calls = model.of(Role::Call).map(|method| arm(method, &run(method, true)));
    let casts = model.of(Role::Cast).map(|method| arm(method, &run(method, false)));
    let (calls_there_are, casts_there_are) =
        (there_are("call", model.of(Role::Call)), there_are("cast", model.of(Role::Cast)));
    let infos = model.of(Role::Info).map(|method| {
        let (run, (names, types)) = (run(method, false), split(method));
        quote! {
            if let ::core::result::Result::Ok(#(#names)*) = <#(#types)* as ::otp::Data>::decode(otp_request) { #run }
        }
    });
    let started = model.of(Role::AfterInit).map(|method| run(method, false));
    let timeout = model.of(Role::Timeout).map(|method| run(method, false));
    let terminate = model.of(Role::Terminate).map(|method| {
        let (run, names) = (run(method, false), names(method));
        quote! { #(let #names = otp_reason;)* #run }
    });
    let (api, description, shown) = (api(model), description(model, &quote! { Server }), shown(model));
    let done = quote! { ::core::result::Result::<::otp::vm::Term<'a>, ::otp::Malformed> };
    quote! {
        #block

        impl ::otp::GenServer for #name {
            fn start(argument: Self::Argument) -> ::otp::host::Begin<Self> {
                let (#(#argument_names,)*) = argument;
                #begin
            }

            #[inline]
            fn call<'a>(
                otp_host: &mut ::otp::host::Host<Self>,
                otp_at: ::otp::host::At<'a, '_>,
                otp_from: ::otp::server::From<'a>,
                otp_request: ::otp::vm::Term<'a>,
            ) -> #done {
                let otp_elements = otp_request.tuple();
                #(#calls)*
                let _ = (otp_host, otp_at, otp_from, otp_elements);
                ::core::result::Result::Err(::otp::Malformed::expected(#calls_there_are))
            }

            #[inline]
            fn cast<'a>(
                otp_host: &mut ::otp::host::Host<Self>,
                otp_at: ::otp::host::At<'a, '_>,
                otp_request: ::otp::vm::Term<'a>,
            ) -> #done {
                let otp_elements = otp_request.tuple();
                #(#casts)*
                let _ = (otp_host, otp_at, otp_elements);
                ::core::result::Result::Err(::otp::Malformed::expected(#casts_there_are))
            }

            #[inline]
            fn info<'a>(
                otp_host: &mut ::otp::host::Host<Self>,
                otp_at: ::otp::host::At<'a, '_>,
                otp_request: ::otp::vm::Term<'a>,
            ) -> #done {
                #(#infos)*
                let _ = (otp_host, otp_at, otp_request);
                ::core::result::Result::Err(::otp::Malformed::expected("a message that it has an #[info] for"))
            }

            #[allow(unreachable_code)]
            fn started<'a>(otp_host: &mut ::otp::host::Host<Self>, otp_at: ::otp::host::At<'a, '_>) -> #done {
                #(#started)*
                let _ = otp_host;
                ::core::result::Result::Ok(otp_at.next(::otp::Next::Wait))
            }

            #[allow(unreachable_code)]
            fn timeout<'a>(otp_host: &mut ::otp::host::Host<Self>, otp_at: ::otp::host::At<'a, '_>) -> #done {
                #(#timeout)*
                let _ = (otp_host, otp_at);
                ::core::result::Result::Err(::otp::Malformed::expected("a #[timeout]"))
            }

            #[allow(unreachable_code)]
            fn terminate<'a>(
                otp_host: &mut ::otp::host::Host<Self>,
                otp_at: ::otp::host::At<'a, '_>,
                otp_reason: ::otp::Reason,
            ) -> #done {
                #(#terminate)*
                let _ = (otp_host, otp_reason);
                ::core::result::Result::Ok(otp_at.next(::otp::Next::Wait))
            }

            #shown
        }

        ::otp::private::inventory::submit! {
            ::otp::process::Behaviour {
                module: <#name as ::otp::Startable>::module,
                at: ::core::concat!(::core::file!(), ":", ::core::line!()),
                init: ::otp::server::start::<#name>,
                restore: ::core::option::Option::Some(::otp::server::restore::<#name>),
                describe: || #description,
            }
        }

        #api
    }
}

/// Runs the method with its arguments, which are there under their names, and returns what comes of it.
fn run(method: &Method, answered: bool) -> TokenStream {
    let (name, names) = (&method.name, names(method));
    let answered = answered && method.caller.is_none();
    let caller = method.caller.as_ref().map(|reply| quote! { otp_from.keep::<#reply>() });
    let arguments = quote! { #(#names,)* #caller };
    let elsewhere = match method.scheduler {
        Scheduler::Normal => None,
        Scheduler::DirtyCpu => {
            Some(quote! { if !otp_at.is_dirty() { return ::core::result::Result::Ok(otp_at.to_dirty_cpu()); } })
        }
        Scheduler::DirtyIo => {
            Some(quote! { if !otp_at.is_dirty() { return ::core::result::Result::Ok(otp_at.to_dirty_io()); } })
        }
    };
    match (method.waits, answered) {
        (false, true) => quote! {
            #elsewhere
            let reply = otp_host.state()?.#name(#arguments);
            return ::core::result::Result::Ok(otp_from.reply(otp_at, ::otp::IntoReply::into_reply(reply)));
        },
        (false, false) => quote! {
            #elsewhere
            let next = otp_host.state()?.#name(#arguments);
            return ::core::result::Result::Ok(otp_at.next(::core::convert::Into::into(next)));
        },
        (true, true) => quote! {
            return otp_host.run(otp_at, move |mut otp_state| async move {
                let reply = ::otp::IntoReply::into_reply(otp_state.#name(#arguments).await);
                ::otp::private::answer(&reply.value);
                (otp_state, reply.next)
            });
        },
        (true, false) => {
            let caller = caller.map(|caller| quote! { let otp_caller = #caller; });
            let arguments = if method.caller.is_some() {
                quote! { #(#names,)* otp_caller }
            } else {
                arguments
            };
            quote! {
                #caller
                return otp_host.run(otp_at, move |mut otp_state| async move {
                    let next = otp_state.#name(#arguments).await;
                    (otp_state, ::core::convert::Into::into(next))
                });
            }
        }
    }
}
