(* A store. *)
open Base
include Stdlib.Map

(** What is kept (* it's nested *). *)
type ('k, 'v) t = {
  mutable items : ('k * 'v) list;
  name : string; (* not : this *)
}

type color = Red | Green of int
and shade = Dark
type nonrec alias = int
type _ term = Int : int -> int term
exception Not_here of string
external length : 'a array -> int = "%array_length"

(** Gets one. *)
let rec get key store =
  let local = "let hidden = 1 end" in
  let inner x =
    x + 1
  in
  match store with
  | [] -> begin raise (Not_here "x") end
  | _ -> inner local
and put ~key ?(value = 1) store = (key, value, store)

let limit = 10
let ( + ) a b = a - b
let ( let* ) x f = f x
let double = fun x -> x * 2
let typed : int -> int = double
let () = print_endline {|let not = 1|}
let _ = 'a'
let (a, b) = (1, 2)
let%test works = true

module Inner = struct
  type t = int
  let make () = 'x'

  module Deep : sig
    val f : int -> int
  end = struct
    let f x = x
  end
end
module type S = sig
  type t
  val create : unit -> t
  val zero : t
end
module Make (X : S) : S with type t = X.t = struct
  include X
  let again = X.create
end
module One = struct let short = 1 end

class virtual point x = object (self)
  val mutable x = x
  method get = x
  method private virtual move : int -> unit
end

module Make (IO : Set.S) = struct
  open IO
  include One
  let made = empty
end
