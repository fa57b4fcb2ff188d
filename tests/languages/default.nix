# A package.
{ lib, stdenv ? null, ... }@args:

with lib;
let
  /* How it's called. */
  name = "pkg-${lib.version}; {";
  inherit (lib) mkIf;
  double = x: x * 2;
  build = { src, flags ? [ ] }: stdenv.mkDerivation {
    inherit src;
    hidden = 1;
  } // { also = 2; };
  script = ''
    let x = ''${not}; in { "
  '';
in
rec {
  version = "1.0";
  meta.license = [ { a = 1; } ];
  "quoted" = assert true; let inner = 1; in inner;
  helpers = rec {
    id = x: x;
    none = 1;
    sets = { deep = y: y; };
  };
  note = ''
    ${lib.optionalString (x == { }) ''
      One let another in. {
    ''} and $${
  '';
  later = callPackage ./with-in.nix { b = 2; };
  other = import ../lib { inherit lib; };
  imports = [ ./hardware.nix ./none # ./comment.nix
    "./text.nix" ../up.nix ];
  src = ./.;
}
