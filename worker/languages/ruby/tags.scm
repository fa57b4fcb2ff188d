; Ruby. Every def is a method; what a `class << self` holds belongs to the class.

; ---- visibility: private def f, private attr_reader :a, private :f, and private alone for what follows

(call !receiver method: (identifier) @visibility arguments: (_ [
    (_ "def" name: (_) @name)
    (_ method: (identifier) @_attr arguments: (_ [(simple_symbol) @name (string (string_content) @name)]))])
  (#any-of? @visibility "private" "protected" "public" "module_function" "private_class_method" "public_class_method"))
  @definition
(call !receiver method: (identifier) @visibility
  arguments: (_ [(simple_symbol) @name (string . (string_content) @name .)])
  (#any-of? @visibility "private" "protected" "public" "module_function" "private_class_method" "public_class_method"
    "private_constant")) @definition.access
([(program (identifier) @visibility @definition.access) (class body: (_ (identifier) @visibility @definition.access))
  (module body: (_ (identifier) @visibility @definition.access))
  (singleton_class body: (_ (identifier) @visibility @definition.access))
  (do_block body: (_ (identifier) @visibility @definition.access))
  (then (identifier) @visibility @definition.access) (else (identifier) @visibility @definition.access)]
  (#any-of? @visibility "private" "protected" "public" "module_function"))

; ---- modules and classes: class A, class A::B, A = Class.new(B) do ... end

(module "module" @visibility
  name: [(constant) @name (_ scope: (_)? @parent name: (_) @name)]
  body: (_)? @body "end" @body) @definition.module
(class "class" @visibility
  name: [(constant) @name (_ scope: (_)? @parent name: (_) @name)]
  body: (_)? @body "end" @body) @definition.class
(module name: (scope_resolution . "::" @global name: (_) @name))
(class name: (scope_resolution . "::" @global name: (_) @name))
(singleton_class value: [(self) (constant) (scope_resolution) (identifier)] @name)
  @definition.scope
(singleton_class value: (assignment left: (_) @name)) @definition.scope
(singleton_class value: (parenthesized_statements (assignment left: (_) @name))) @definition.scope

(_ left: [(constant) @name (_ scope: (_) @parent name: (constant) @name)] "=" @visibility
  right: (_ receiver: (constant) @_class method: (identifier) @_new block: (_)? @body)
  (#any-of? @_class "Class" "Struct" "Data") (#any-of? @_new "new" "define")) @definition.class
(_ left: [(constant) @name (_ scope: (_) @parent name: (constant) @name)] "=" @visibility
  right: (_ receiver: (constant) @_class method: (identifier) @_new block: (_)? @body)
  (#eq? @_class "Module") (#eq? @_new "new")) @definition.module

; ---- constants

(_ left: [(constant) @name (_ scope: (_) @parent name: (constant) @name)]
  ["=" "||="] @visibility right: (_) @value) @definition.constant
(_ left: (left_assignment_list
    [(constant) @name (_ scope: (_) @parent name: (constant) @name)])
  "=" @visibility right: (_) @value) @definition.constant

; ---- methods: def f, def self.f, def A.f, def f = 1, define_method(:f), alias f g; properties: attr_accessor :a, :b

(method name: (_) @name "="? @body body: (_)? @body "end"? @body) @definition.method
(singleton_method "def" @visibility object: (_)
  name: (_) @name "="? @body body: (_)? @body "end"? @body) @definition.method
(singleton_method
  object: [(constant) (scope_resolution) (identifier) (instance_variable) (class_variable) (global_variable)] @parent
  name: (_) @name)
(call !receiver method: (identifier) @_define
  arguments: (_ . [(simple_symbol) @name (string . (string_content) @name .)]) block: (_)? @body
  (#any-of? @_define "define_method" "define_singleton_method" "alias_method")) @definition.method
(alias name: [(identifier) (constant) (operator) (setter) (simple_symbol)] @name) @definition.method
(call !receiver method: (identifier) @_attr
  arguments: (_ [(simple_symbol) @name (string . (string_content) @name .)])
  (#any-of? @_attr "attr_accessor" "attr_reader" "attr_writer" "attr")) @definition.property

; ---- imports

(call !receiver method: (identifier) @_require arguments: (_ . (string . (string_content) @module .))
  (#any-of? @_require "require" "require_relative" "load")) @import
(call !receiver method: (identifier) @relative arguments: (_ . (string . (string_content) @module .))
  (#eq? @relative "require_relative")) @import
(_ receiver: (constant) @_kernel method: (identifier) @_require
  arguments: (_ . (string . (string_content) @module .))
  (#eq? @_kernel "Kernel") (#any-of? @_require "require" "load")) @import
([(call !receiver method: (identifier) @_autoload
    arguments: (_ . [(simple_symbol) @imported (string . (string_content) @imported .)] . (string . (string_content) @module .)))
  (call receiver: [(self) (constant) (scope_resolution)] method: (identifier) @_autoload
    arguments: (_ . [(simple_symbol) @imported (string . (string_content) @imported .)] . (string . (string_content) @module .)))]
  (#eq? @_autoload "autoload")) @import
; of ActiveSupport, by the name alone, which `require_relative` does not have: autoload :Relation
(call !receiver method: (identifier) @relative arguments: (_ . (simple_symbol) @module @alias .)
  (#eq? @relative "autoload")) @import

(comment) @comment
