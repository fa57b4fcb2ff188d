#= Shapes,
   it's =#
module Shapes

using LinearAlgebra, Statistics
using Base: show, @kwdef
import JSON as J
include("circle.jl")
export area

"A thing with an area."
abstract type Shape end
primitive type Byte 8 end

"""
    Circle(r)

A circle.
"""
@kwdef mutable struct Circle{T<:Real} <: Shape
    const r::T = 1
    name
    Circle(r) = new(r, "end")
end

const LIMIT = 10
counter = 0
const Numbers = Union{Int, Float64}

"How large."
function area(c::Circle{T}; scale=1)::T where {T<:Real}
    local x = [i for i in 1:3 if i > 1]
    y = x[end] + x[begin]
    for i in x
        i == 'e' && continue
    end
    map(x) do v
        v + 1
    end
    f(z) = z
    return if y > 1 y else c.r end
end
area(s::Shape) = 0
Base.show(io::IO, c::Circle) = print(io, "c")
Base.:+(a::Circle, b::Circle) = Circle(a.r + b.r)
function Base.:(==)(a::Circle, b::Circle) a.r == b.r end
@inline function fast!(x) x end
macro twice(e)
    quote
        $(esc(e)); $(esc(e))
    end
end
scale(x::T, by=(1, 2)) where {T} = x * by[1]
function forward end
if true
    maybe(x) = x
end
end # module
using Paths: /
const Pair2{T} = Tuple{T, T}
function do!(x)
    x
end
struct Behind end
