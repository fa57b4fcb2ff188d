`timescale 1ns / 1ps
`include "cpu_pkg.svh"
`define WIDTH 32
`define MAX(a, b) \
  ((a) > (b) ? (a) : (b))
// Types of the core.
package cpu_pkg;
  typedef enum logic [1:0] {IDLE, RUN} state_t;
  typedef struct packed { logic [3:0] op; logic valid; } uop_t;
  typedef class later;
  localparam int DEPTH = 4;
  function automatic logic [3:0] next_op(input logic [3:0] a);
    if (a == 0) begin : zero
      return 1;
    end : zero
    return a + 1;
  endfunction : next_op
  import "DPI-C" function int c_model(input int x);
endpackage : cpu_pkg

interface bus_if #(parameter W = 8) (input clk);
  logic [W-1:0] data;
  modport master (output data, import task send(input int x));
  clocking cb @(posedge clk);
    input data;
  endclocking
  task send(input int x);
    data <= x;
  endtask
endinterface

/* One core. */
(* keep *) module cpu
  import cpu_pkg::*;
  #(parameter RESET = 0)
  (input wire clk, output reg [`WIDTH-1:0] q);
  parameter SIZE = 1;
  genvar i;
  generate
    for (i = 0; i < 2; i = i + 1) begin : g
      alu #(.W(8)) u_alu (.clk(clk), .a({q[3:0], 4'b0}));
    end
  endgenerate
  always @(posedge clk)
    case (q)
      0: q <= 1;
      default: begin q <= 0; end
    endcase
  initial fork
    wait fork;
  join_none
  assert property (@(posedge clk) q |-> 1) else $error("no");
  function [7:0] old_style;
    input [7:0] x;
    old_style = x;
  endfunction
endmodule
module alu (a, y); input a; output y; assign y = a; endmodule

virtual class item extends uvm_sequence_item;
  `uvm_object_utils_begin(item)
    `uvm_field_int(addr, UVM_ALL_ON)
  `uvm_object_utils_end
  rand bit [7:0] addr;
  constraint small { addr inside {[0:3]}; if (addr) { addr < 9; } }
  virtual bus_if vif;
  virtual interface bus_if raw;
  covergroup cg with function sample(bit [7:0] a);
    coverpoint a { bins low = {[0:3]}; }
  endgroup
  function new(string name = "item");
    super.new(name);
  endfunction
  extern virtual function void show(int depth);
  pure virtual task run();
  local static task hidden(); endtask
endclass
function void item::show(int depth);
  `uvm_info("ITEM", $sformatf("%0d", depth), UVM_LOW)
endfunction
program test; endprogram
