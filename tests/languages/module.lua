#!/usr/bin/env lua
-- Copyright, not documentation.

local json = require("json")
local lpeg, re = require "lpeg", require 're'
local insert = table.insert
require "side.effect"
local ok, ffi = pcall(require, "ffi")
local path = require("pl." .. "path")

--[[
function hidden() end
--]]

--- The module.
-- With a second line.
local M = {}
M._VERSION = "1.0"
local cache = {}
LIMIT = 10
local first, second = 1, 2
local declared
local answer <const> = 42
local text = [==[
function not_this() end
]==]

--- Add two numbers.
-- @param a a number
function M.add(a, b)
  local sum = a + b
  local function inner(x) return x end
  hidden = 1
  return inner(sum)
end

function M.list.map(f, ...) end
function M.list:each(f) end

--[[ A block of
documentation. ]]
local function helper(
  a,
  b
)
  return function() end
end

M.sub = function(a, b)
  return a - b
end
M["key with blank"] = function() end
M[computed] = function() end
M.alias = M.add
local short = function() end
global = function() end
first, second = function() end, 2

local Account = {
  balance = 0,
  deposit = function(self, amount) self.balance = self.balance + amount end,
  ["odd name"] = function() end,
  [computed] = function() end,
  nested = { deep = function() end },
}
Account.__index = Account
function Account:withdraw(amount) end

M.handlers = {
  on_open = function() end,
}

local Class = setmetatable({}, {
  __call = function(class, ...) return class end,
})

if jit then
  local inside_if = 1
  function M.fast() end
else
  M.fast = function() end
end

goto done
::done::
pcall(function() local unseen = 1; function seen() end end)

return { add = M.add, last = function() end }
