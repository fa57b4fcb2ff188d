<?php
namespace App\One {
    use App\Two\B;
    const X = 1;
    abstract class A { abstract function f(); }
    function g() {}
}
namespace {
    use Countable;
    class Globally {}
}
