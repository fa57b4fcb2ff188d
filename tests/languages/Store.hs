{-# LANGUAGE GADTs #-}
{- A store,
   {- it's nested -} really. -}
module Shop.Store
  ( Store(..)
  , get
  ) where

import Data.List (sortBy, (\\))
import Data.Monoid (Monoid(mempty, mappend), Sum (..))
import qualified Data.Map as Map
import Shop.Money hiding (zero)
import Prelude

infixl 6 <+>

-- | A store.
-- It holds things.
data Store a = Store
  { name :: String
  , items, others :: [a] -- ^ what = Hidden
  } | Empty
  deriving (Show, Eq)

newtype Price = Price { unPrice :: Int }
type Name = String
type family Elem c
data Expr a where
  IntE  :: Int -> Expr Int
  BoolE, NotE :: Bool -> Expr Bool

class (Eq a, Show a) => Sized a where
  type Unit a
  -- | How large.
  size :: a -> Int
  size _ = 1
  area, volume :: a -> Int

instance Sized (Store a) where
  size = length . items

-- | Gets one.
get :: Ord k
    => k -> Map.Map k v
    -> Maybe v
get key store
  | key == key = Map.lookup key store
  where local = "where { "
get _ _ = Nothing

(<+>), (<->) :: Int -> Int -> Int
a <+> b = a + b
a <-> b = a - b
x `plus` y = x + y
helper' !x = 'a' : "\"" ++ x
limit = 10
(one, two) = (1, 2)
pattern Zero = 0
foreign import ccall "math.h sin" c_sin :: Double -> Double
#if defined(X)
main :: IO ()
main = do
  let f x = x
  print (f limit)
#endif
