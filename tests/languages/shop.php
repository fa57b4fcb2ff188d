<!doctype html>
<h1><?= $title ?></h1>
<?php
declare(strict_types=1);

namespace App\Shop;

use App\Models\User;
use App\Models\Order as Purchase, Closure;
use \Psr\Log\LoggerInterface;
use function App\Helpers\format as fmt;
use const App\Helpers\LIMIT;
use App\Events\{Created, Sub\Deleted as Gone, function fire};
use function App\Text\{trim, pad as padded};

require __DIR__ . '/helpers.php';
require_once('vendor/autoload.php');
$config = include dirname(__FILE__) . "/config.php";
include $name . '.php';
include BASE . '/no.php';

const RATE = 0.2,
    NAME = 'shop';
define('SHOP_ROOT', __DIR__);
\define("SHOP_DEBUG", false);
define($name, 1);

/**
 * A basket.
 */
#[Entity(table: 'class Fake {}')]
#[Cached]
final class Basket extends Base implements \Countable, Sellable
{
    use Discounts, Taxes {
        Discounts::apply insteadof Taxes;
    }

    public const MAX = 10, MIN = 1;
    private const string KIND = 'basket';
    const OPEN = true;

    /** What is in it. */
    #[Column]
    private array $items = [
        'a',
    ];
    public static ?int $count = 0, $größe;
    var $legacy;
    protected readonly string $id;
    public string $label { get => 'x'; set(string $value) { $this->label = $value; } }

    /** Make one. */
    public function __construct(
        private readonly Clock $clock,
        #[Sensitive] protected ?string $note = null,
        int $plain = 0,
    ) {
        $local = 1;
        parent::__construct();
    }

    #[Pure]
    abstract protected static function price(int ...$of): int|float;

    function &items(): array
    {
        function helper() { return 1; }
        $f = function ($x) use ($y) { return $x; };
        $g = fn ($x) => $x;
        $h = new class (1) extends Base {
            private $hidden;
            public function inside(): void {}
        };
        return $this->items;
    }
}

interface Sellable { const VAT = 19; public function sell(): void; }
trait Discounts { private $rate; abstract public function apply(); }
enum Suit: string implements HasLabel
{
    case Hearts = 'H';
    #[Black]
    case Spades = 'S';
    const Wild = self::Spades;
    public function label(): string { return 'x'; }
}
enum Plain { case One; case Two; }

# A line comment is no documentation.
function total(array $of): float {
    define('IN_FUNCTION', 1);
    return <<<SQL
        class Fake {}
        function no() {}
    SQL . <<<'RAW'
        class Fake2 {}
        RAW;
}
if (!function_exists('polyfill')) {
    function polyfill() {}
}
?>
<p>class Fake3 {}</p>
<?php function last() {} // no end
