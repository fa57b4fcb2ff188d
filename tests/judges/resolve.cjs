// What the TypeScript compiler resolves. Arguments: the compiler's package, the project's root. In: lines of
// [file, module], out: a line of JSON each, the path below the root or null.
const path = require("path");
const fs = require("fs");
const ts = require(process.argv[2]);
const root = fs.realpathSync(process.argv[3]);
const parsed = new Map();

function options(file) {
  for (let up = path.dirname(file); up.startsWith(root); up = path.dirname(up)) {
    for (const name of ["tsconfig.json", "jsconfig.json"]) {
      const config = path.join(up, name);
      if (fs.existsSync(config)) {
        if (!parsed.has(config)) parsed.set(config, read(config));
        return parsed.get(config);
      }
    }
  }
  return read(null);
}

function read(config) {
  const raw = config ? ts.readConfigFile(config, ts.sys.readFile).config || {} : {};
  const host = { ...ts.sys, readDirectory: () => [] };
  const found = ts.parseJsonConfigFileContent(raw, host, config ? path.dirname(config) : root, undefined, config || undefined);
  const options = { ...found.options, allowJs: true, resolveJsonModule: true };
  options.module = ts.ModuleKind.ESNext;
  options.moduleResolution = ts.ModuleResolutionKind.Bundler;
  return options;
}

for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const [file, module] = JSON.parse(line);
  const from = path.join(root, file);
  const found = ts.resolveModuleName(module, from, options(from), ts.sys).resolvedModule;
  const target = found && path.relative(root, fs.realpathSync(found.resolvedFileName));
  console.log(JSON.stringify(target && !target.startsWith("..") ? target : null));
}
