// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import "./Base.sol";
import {IERC20, Math as M} from "@openzeppelin/contracts/token/IERC20.sol";
import * as Lib from '../Lib.sol';

uint256 constant SCALE = 1e18;
type Price is uint256;
error Denied(address who);

/// A thing with a price.
interface IThing {
    event Sold(address indexed to, uint256 price);
    function price() external view returns (uint256);
    receive() external payable;
}

/**
 * @title Token
 */
abstract contract Token is Base, IThing(1, 2) {
    using Math for uint256;
    struct Account { uint256 balance; mapping(address => bool) allowed; }
    enum State { New, Done }

    mapping(address owner => mapping(address => uint256)) private _allowances;
    string public constant NAME = "it's {a}";
    uint256[] internal immutable list;
    address payable owner;
    State state = State.New;
    function(uint256) external returns (bool) callback;
    IERC20 public override token;

    modifier onlyOwner() { require(msg.sender == owner, "no"); _; }

    constructor(string memory name_) Base(name_) { owner = payable(msg.sender); }
    fallback() external payable {}

    /// @notice Sends it.
    function send(address to, function(uint) returns (bool) f)
        public
        virtual
        override(Base, IThing)
        onlyOwner
        returns (bool ok)
    {
        uint256 local = 1;
        (ok, ) = to.call{value: local, gas: 5}("");
        if (ok) { emit Sold(to, local); } else { revert Denied(to); }
        for (uint i; i < 3; ++i) { unchecked { local += i; } }
        assembly { let x := add(1, 2) }
    }
    function _hidden() private pure;
    function twice(uint a) internal pure returns (uint) { return a * 2; }
}

library Math { function max(uint a, uint b) internal pure returns (uint) { return a > b ? a : b; } }
function free(uint a) pure returns (uint) { return a; }
