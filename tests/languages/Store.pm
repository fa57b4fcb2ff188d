# A store.
package Shop::Store;
use strict;
use warnings;
use 5.010;
use parent 'Shop::Base', -norequire;
use List::Util qw(first max);
require Shop::Money;

our $VERSION = '1.0';
our ($Debug, @Items);
use constant LIMIT => 10;
use constant {
    RED   => 1,
    GREEN => "}",
};
has name => (is => 'ro');
has [qw(width height)] => sub { 1 };

=head1 NAME

sub hidden { }

=cut

# Makes one.
sub new {
    my ($class, %args) = @_;
    my $text = <<"END" . 'x';
sub not_this {
}
END
    return bless {%args}, $class if $text =~ m/don't { match/;
    my $later = sub { 1 };
}

sub _private { s/"//; 1 }
sub forward;
sub
{ 2 }
sub Other::name
{
    print 1 << 2;
}
my sub lexical ($x, $y = 1) {
    1;
}

package Shop::Inner {
    sub inner { 1 }
}

package main;
sub run { Shop::Store->new }
1;
__END__
sub after { }
