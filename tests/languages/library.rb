#!/usr/bin/env ruby
# frozen_string_literal: true

require "set"
require_relative "library/shelf"
load 'tasks.rb'
Kernel.require "json"
require File.join(__dir__, "computed") # not a literal
autoload :Catalogue, "library/catalogue"

=begin
def hidden
end
=end

# Everything about books.
#
# It has a second paragraph.
module Library
  VERSION = "1.0"
  LIMITS = {
    books: 3,
  }.freeze
  A, B = 1, 2
  First = Second = :both
  CACHE ||= {}
  Library::ROOT = "/"
  TEXT = <<~ONE + <<-'TWO' # def no
    def not_one
  ONE
    def not_two
    TWO

  # A book.
  class Book < Struct.new(:isbn)
    include Comparable
    attr_reader :title, "author"
    attr_accessor :copies
    attr_writer(:price)

    class << self
      attr_accessor :shelf

      # Find it.
      def find(isbn) = shelf[isbn]

      private

      def index; end
    end

    # Open it.
    def self.open(path, mode: "r")
      yield new(path)
    end

    def Book.close; end

    def initialize(title, author:, &block)
      @title = title
      define_singleton_method(:fresh) { true }
    end

    def <=>(other) = title <=> other.title

    def []=(page, text)
    end

    def empty? = copies.zero?
    def copies=(n)
      @copies = n
    end
    def -@; end

    define_method(:lend) { |to| to }
    define_method "give back" do
      nil
    end
    define_method(computed) { }
    alias take lend
    alias :pages= :copies=
    alias_method :size, :copies

    private def secret = 1
    private attr_reader :code
    private_class_method def self.build(*)
      new
    end
    private_class_method :open
    memoize def cached
      yield
    end

    protected

    def compare
      helper = lambda do
        def nested; end
      end
    end

    public

    def visible; end
    def hidden; end
    private :hidden, "visible"

    LOCAL = 1
    private_constant :LOCAL

    private

    def last_one
    rescue StandardError => e
      raise
    ensure
      done
    end
    Inner = Class.new(StandardError)
    def self.still_public; end
  end

  class Shelf::Row; end
  class ::Top
    def at_the_top; end
  end

  Point = Struct.new(:x, :y) do
    def +(other)
      Point.new(x + other.x, y + other.y)
    end
  end
  Helpers = Module.new { def help; end }

  module_function

  def run; end
end

class Library::Book
  def reopened; "#{def in_a_string; end}"; end
end

def Library.count; end
object = Object.new
def object.only; end

def main(argv = ARGV)
  local = 1
  été = /def regexp/
end
%w[def array].each { |x| :def }
BEGIN { def early; end }
module Library
  autoload "Index", "library/index"
  self.autoload :Shelf, "library/shelf"
  autoload :TypeMap
  autoload :Computed, File.join(__dir__, "computed") # not a literal
end
__END__
def after_the_end
end
