(** Shapes. *)

(** A shape. *)
type t

val area : t -> float
val pi : float
(** How large. *)

module Circle : sig
  val radius : t -> float
end
