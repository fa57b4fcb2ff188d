# Statistics.
library(dplyr)
require("stats")
source("R/helpers.R")

#' The mean.
#'
#' @param x numbers
mean_of <- function(x, na.rm = TRUE) {
  total <- sum(x) # it's local
  inner = function(y) y + 1
  total / length(x)
}

add <- function(a,
                b = c(1, 2))
{
  a + b
}
`%+%` <- function(e1, e2) paste0(e1, e2)
"names<-.thing" <- function(x, value) x
print.thing = function(x, ...) UseMethod("print")
square <- \(x) x^2
LIMIT <- 10
.hidden <- c("a {", 'b')
settings <- list(
  a = 1,
  f = function() 2
)
global <<- 3
text <- r"(function() { " )"
setClass("Person", representation(name = "character"))
Stack <- R6::R6Class("Stack", public = list(push = function(x) { x }))
setGeneric("area", function(shape) standardGeneric("area"))
setMethod("area", "Circle", function(shape) { shape@r })
if (interactive()) { debug_it <- function() 1 }
assign("x", 1)
y == 1
