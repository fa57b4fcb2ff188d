\documentclass{article}
A module that counts.

> module Shop.Count (count) where
> import Data.List (sort)

Here is how many there are:
count = no code

> -- | How many.
> count :: [a] -> Int
> count [] = 0
> count (_:xs) =
>   1 + count xs

\begin{code}
data Tree a = Leaf
  | Node (Tree a) a
\end{code}
none = 1

>done = 1
