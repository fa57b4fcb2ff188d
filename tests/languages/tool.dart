#!/usr/bin/env dart
void main(List<String> arguments) {
  run(arguments);
}

void run(List<String> arguments) {}
