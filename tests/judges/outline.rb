# The outline of Ruby files by the interpreter's own parser: ruby outline.rb < paths; a line of JSON for each file, null
# where it does not parse. A definition is [qualified name, kind, first line, last line, visibility].
require "json"
require "set"

ATTRIBUTES = %i[attr attr_accessor attr_reader attr_writer].freeze
DEFINERS = %i[define_method define_singleton_method alias_method].freeze
MODES = { private: "private", protected: "protected", public: "public", module_function: "public",
          private_class_method: "private", public_class_method: "public", private_constant: "private" }.freeze
CLASSES = { Class: [:new, "class"], Struct: [:new, "class"], Data: [:define, "class"], Module: [:new, "module"] }.freeze

class Outline
  attr_reader :definitions, :imports

  def initialize(root)
    @definitions = []
    @imports = []
    @constants = Set.new
    @modes = [nil] # of what follows in each body around
    walk(root, [])
  end

  private

  # A constant is one symbol, where it first gets its value.
  def add(name, kind, path, node, visibility = nil)
    return if kind == "constant" && !@constants.add?([*path, name])

    @definitions << [[*path, name].join("."), kind, node.first_lineno, node.last_lineno, visibility || "public"]
  end

  def walk(node, path)
    return node.each { |child| walk(child, path) } if node.is_a?(Array)
    return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

    name = :"on_#{node.type.downcase}"
    return if respond_to?(name, true) && send(name, node, path)

    walk(node.children, path)
  end

  def body(node, path)
    @modes.push(nil)
    walk(node.children, path)
    @modes.pop
    true
  end

  # A::B is [["A"], "B"], ::B starts anew
  def place(node, path)
    case node.type
    when :COLON3 then [[], node.children[0].to_s]
    when :COLON2 then [node.children[0] ? named(node.children[0], path) : path, node.children[1].to_s]
    else [path, node.children[0].to_s]
    end
  end

  # `A` and `A::B` within a class A are A itself and what it holds
  def named(node, path)
    owner, name = place(node, path)
    owner == path && path.last == name ? path : [*owner, name]
  end

  def on_class(node, path)
    owner, name = place(node.children[0], path)
    add(name, node.type == :CLASS ? "class" : "module", owner, node)
    walk(node.children[1], path) if node.type == :CLASS
    body(node.children.last, [*owner, name])
  end
  alias on_module on_class

  def on_sclass(node, path)
    receiver = node.children[0]
    owner = case receiver.type
            when :SELF then path
            when :CONST, :COLON2, :COLON3 then named(receiver, path)
            else [*path, receiver.children[0].to_s]
            end
    body(node.children[1], owner)
  end

  def on_defn(node, path)
    add(node.children[0].to_s, "method", path, node, @modes.last)
    walk(node.children[1], [*path, node.children[0].to_s])
    true
  end

  def on_defs(node, path)
    receiver, name, scope = node.children
    owner = case receiver.type
            when :SELF then path
            when :CONST, :COLON2, :COLON3 then named(receiver, path)
            when :VCALL, :LVAR, :DVAR, :IVAR, :CVAR, :GVAR then [*path, receiver.children[0].to_s]
            else return true
            end
    add(name.to_s, "method", owner, node)
    walk(scope, [*owner, name.to_s])
    true
  end

  def on_alias(node, path)
    add(node.children[0].children[0].to_s, "method", path, node, @modes.last) if node.children[0].type == :LIT
    true
  end

  def on_cdecl(node, path)
    target, *rest = node.children
    owner, name = target.is_a?(Symbol) ? [path, target.to_s] : place(target, path)
    add(name, kind(rest.last), owner, node)
    class_body(rest.last, [*owner, name]) || walk(rest.last, [*owner, name])
    true
  end

  def on_op_cdecl(node, path)
    owner, name = place(node.children[0], path)
    add(name, "constant", owner, node) if node.children[1] == :"||"
    walk(node.children[2], [*owner, name])
    true
  end

  def on_op_asgn_or(node, path)
    target = node.children[2]
    return unless target.type == :CDECL

    add(target.children[0].to_s, "constant", path, node)
    walk(target.children.last, [*path, target.children[0].to_s])
    true
  end

  def on_masgn(node, path)
    value, targets, = node.children
    (targets ? targets.children : []).compact.each do |target|
      next unless target.type == :CDECL

      owner, name = target.children[0].is_a?(Symbol) ? [path, target.children[0].to_s] : place(target.children[0], path)
      add(name, "constant", owner, node)
    end
    walk(value, path)
    true
  end

  def kind(value)
    call = value.is_a?(RubyVM::AbstractSyntaxTree::Node) && value.type == :ITER ? value.children[0] : value
    return "constant" unless call.is_a?(RubyVM::AbstractSyntaxTree::Node) && call.type == :CALL

    receiver, method, = call.children
    expected, kind = receiver.type == :CONST ? CLASSES[receiver.children[0]] : nil
    expected == method ? kind : "constant"
  end

  def class_body(value, path)
    return unless kind(value) != "constant" && value.type == :ITER

    walk(value.children[0], path)
    body(value.children[1], path)
  end

  def literals(arguments)
    (arguments ? arguments.children.compact : []).filter_map do |argument|
      argument.children[0].to_s if argument.type == :STR || (argument.type == :LIT && argument.children[0].is_a?(Symbol))
    end
  end

  def on_vcall(node, _path)
    @modes[-1] = MODES[node.children[0]] if %i[private protected public module_function].include?(node.children[0])
    false
  end

  def on_iter(node, path)
    call, block = node.children
    if call.type != :FCALL || !DEFINERS.include?(call.children[0])
      walk(call, path)
      return body(block, path)
    end

    name, = literals(call.children[1]).take(1)
    return unless first_literal?(call)

    add(name, "method", path, node, @modes.last)
    walk(block, [*path, name])
    true
  end

  def first_literal?(call)
    first = call.children[1]&.children&.first
    first && (first.type == :STR || (first.type == :LIT && first.children[0].is_a?(Symbol)))
  end

  def on_fcall(node, path)
    method, arguments = node.children
    if DEFINERS.include?(method)
      add(literals(arguments)[0], "method", path, node, @modes.last) if first_literal?(node)
    elsif ATTRIBUTES.include?(method)
      literals(arguments).each { |name| add(name, "property", path, node, @modes.last) }
    elsif %i[require require_relative load].include?(method) && arguments&.children&.first&.type == :STR
      @imports << [node.first_lineno, arguments.children[0].children[0]]
    elsif method == :autoload && arguments&.children&.[](1)&.type == :STR
      @imports << [node.first_lineno, arguments.children[1].children[0]]
    elsif method == :autoload && arguments&.children&.compact&.size == 1 && arguments.children[0].type == :LIT
      @imports << [node.first_lineno, arguments.children[0].children[0].to_s]
    elsif MODES.key?(method)
      before = @definitions.size
      walk(arguments, path)
      @definitions[before..].each do |definition|
        next if definition[0].count(".") != path.size

        definition[2] = node.first_lineno if definition[1] == "method"
        definition[4] = MODES[method]
      end
      literals(arguments).each do |name|
        found = @definitions.rindex { |definition| definition[0] == [*path, name].join(".") }
        @definitions[found][4] = MODES[method] if found
      end
      return true
    end
    false
  end

  def on_call(node, _path)
    receiver, method, arguments = node.children
    kernel = receiver.type == :CONST && receiver.children[0] == :Kernel && %i[require load].include?(method)
    @imports << [node.first_lineno, arguments.children[0].children[0]] if kernel && arguments&.children&.first&.type == :STR
    false
  end
end

$VERBOSE = nil
$stdin.each_line(chomp: true) do |path|
  source = File.read(path, encoding: "UTF-8")
  outline = Outline.new(RubyVM::AbstractSyntaxTree.parse(source))
  puts JSON.generate({ definitions: outline.definitions, imports: outline.imports })
rescue SyntaxError, ArgumentError, EncodingError, JSON::GeneratorError
  puts "null"
end
