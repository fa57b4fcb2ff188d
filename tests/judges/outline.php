<?php
// PHP's view of files, by nikic/php-parser: php outline.php <its autoload.php> < list of paths > JSON lines. Each line:
// {definitions: [[qualified name, kind, first line, last line]], imports: [[line, module, name, alias]], docs: [[qualified
// name, first line]]}, or null where the parser finds a syntax error.
require $argv[1];

use PhpParser\Error;
use PhpParser\Lexer;
use PhpParser\Node;
use PhpParser\Node\Expr;
use PhpParser\Node\Stmt;
use PhpParser\ParserFactory;

const KINDS = [
    Stmt\Class_::class => 'class', Stmt\Interface_::class => 'interface', Stmt\Trait_::class => 'trait',
    Stmt\Enum_::class => 'enum', Stmt\EnumCase::class => 'constant', Stmt\Function_::class => 'function',
    Stmt\ClassMethod::class => 'method',
];

class Outline
{
    public array $definitions = [];
    public array $imports = [];
    public array $docs = [];
    private array $fields = [];

    public function walk(mixed $node, ?string $owner, bool $isLocal): void
    {
        foreach (is_array($node) ? $node : [] as $child) {
            $this->walk($child, $owner, $isLocal);
        }
        if (!$node instanceof Node) {
            return;
        }
        $this->imported($node);
        $inner = $owner;
        foreach ($this->names($node) as [$name, $kind]) {
            $inner = $this->define($node, $name, $kind, $owner, $isLocal);
        }
        foreach ($node->getSubNodeNames() as $part) {
            $isOwn = !($node instanceof Stmt\ClassMethod && $part === 'params'); // what a constructor promotes is the class's
            $isInFunction = $node instanceof Stmt\ClassMethod || $node instanceof Stmt\Function_;
            $isInside = $isOwn && ($isInFunction || $isLocal && $inner === $owner);
            $this->walk($node->$part, $isOwn ? $inner : $owner, $isInside);
        }
    }

    // (name, kind) of what a node defines; declarations of constants and properties define several.
    private function names(Node $node): array
    {
        $all = fn (array $parts, string $kind) => array_map(fn ($part) => [(string) $part->name, $kind], $parts);
        return match (true) {
            $node instanceof Stmt\Namespace_ => $node->name ? [[$node->name->toString(), 'module']] : [],
            isset(KINDS[$node::class]) => $node->name ? [[(string) $node->name, KINDS[$node::class]]] : [],
            $node instanceof Stmt\Const_, $node instanceof Stmt\ClassConst => $all($node->consts, 'constant'),
            $node instanceof Stmt\Property => $all($node->props, 'variable'),
            $node instanceof Node\Param && $node->flags => [[$node->var->name, 'variable']],
            $node instanceof Stmt\Expression => $this->defined($node->expr),
            default => [],
        };
    }

    private function defined(Expr $call): array
    {
        $isDefine = $call instanceof Expr\FuncCall && $call->name instanceof Node\Name
            && strtolower($call->name->toString()) === 'define' && count($call->args) >= 2;
        $name = $isDefine ? $call->args[0]->value : null;
        return $name instanceof Node\Scalar\String_ ? [[$name->value, 'constant']] : [];
    }

    private function define(Node $node, string $name, string $kind, ?string $owner, bool $isLocal): ?string
    {
        $isField = $kind === 'variable' || $kind === 'constant';
        $isBlock = $node instanceof Stmt\Namespace_ && $node->getAttribute('kind') === Stmt\Namespace_::KIND_BRACED;
        $isStatement = $node instanceof Stmt\Namespace_ && !$isBlock; // it owns nothing, like the package of Java
        $qualified = $owner === null ? $name : "$owner.$name";
        if (!$isField || !$isLocal && !isset($this->fields[$qualified])) {
            $last = $isStatement ? $node->name->getEndLine() : $node->getEndLine();
            $this->definitions[] = [$qualified, $kind, $node->getStartLine(), $last];
            if ($node->getDocComment() && $kind !== 'module') {
                $this->docs[] = [$qualified, $node->getStartLine()];
            }
        }
        if ($isField) {
            $this->fields[$qualified] = true;
        }
        return $isStatement ? $owner : $qualified;
    }

    private function imported(Node $node): void
    {
        if ($node instanceof Stmt\Use_) {
            foreach ($node->uses as $use) {
                $parts = explode('\\', $use->name->toString());
                $name = count($parts) > 1 ? array_pop($parts) : null;
                $this->imports[] = [$use->name->getStartLine(), implode('\\', $parts), $name, $use->alias?->name];
            }
        } elseif ($node instanceof Stmt\GroupUse) {
            foreach ($node->uses as $use) {
                $this->imports[] = [$node->getStartLine(), $node->prefix->toString(), $use->name->toString(), $use->alias?->name];
            }
        } elseif ($node instanceof Expr\Include_ && ($path = $this->path($node->expr)) !== null) {
            $this->imports[] = [$node->getStartLine(), $path, null, null];
        }
    }

    private function path(Expr $path): ?string
    {
        $isHere = $path instanceof Expr\BinaryOp\Concat && ($path->left instanceof Node\Scalar\MagicConst\Dir
            || $path->left instanceof Expr\FuncCall && $path->left->name instanceof Node\Name
                && $path->left->name->toString() === 'dirname' && count($path->left->args) === 1
                && $path->left->args[0]->value instanceof Node\Scalar\MagicConst\File);
        $path = $isHere ? $path->right : $path;
        return $path instanceof Node\Scalar\String_ ? $path->value : null;
    }
}

$attributes = ['comments', 'startLine', 'endLine', 'kind'];
$parser = (new ParserFactory())->create(ParserFactory::ONLY_PHP7, new Lexer\Emulative(['usedAttributes' => $attributes]));
while (($path = fgets(STDIN)) !== false) {
    try {
        $outline = new Outline();
        $outline->walk($parser->parse(file_get_contents(rtrim($path, "\n"))), null, false);
        $found = json_encode(get_object_vars($outline), JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES);
    } catch (Error) {
        $found = 'null';
    }
    echo $found, "\n";
}
