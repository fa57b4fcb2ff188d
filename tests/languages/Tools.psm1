# Tools.
using namespace System.IO
<#
.SYNOPSIS
 Says it's so.
#>
function Get-Thing {
    [CmdletBinding()]
    param(
        [Parameter(Mandatory)] [string] $Name,
        $Other = { "}" }
    )
    begin { $local = @{ a = 1 } }
    process {
        function Inner { 'function Not { }' }
        if ($Name -eq "a `"quoted`" {") { return }
    }
}
filter script:Add-One { $_ + 1 }
Function Test-Brace
{
    @"
function Hidden { "
"@
}
class Shape : Base {
    [string] $Name = 'x'
    hidden [int[]] $Sizes
    static [Shape] Create([string] $name) { return [Shape]::new($name) }
    Shape([string] $name) : base($name) { $this.Name = $name }
    [void] Draw() { }
}
enum Color { Red = 1
  Green }
$script:Limit = 10
[int] $Count = 0
$Settings = @{
    A = 1
}
Get-Thing | ForEach-Object { $inner = 1 }
using module ./Shapes.psm1
. "$PSScriptRoot\Private\one.ps1"
. (Join-Path $PSScriptRoot 'Private/two.ps1')
. $computed
Import-Module -Force -Name Other.Module
import-module "$PSScriptRoot/../Third.psd1"
if ($true) { Import-Module Inner }
#Requires -Modules Az, @{ ModuleName = "Pester"; ModuleVersion = '5.0' }
