(ns my.portable
  (:require #?(:clj [a.jvm :as impl] :cljs [a.js :as impl])
            #?@(:cljs [["react" :as react] c.d]))
  #?(:cljs (:require-macros [my.macros :refer [m]])
     :clj (:import (java.util Map$Entry))))

#?(:clj (defn now [] (System/currentTimeMillis))
   :cljs (defn now []
           (.now js/Date)))
#?@(:clj [(def a 1)
          (def b 2)])
#?
(:clj (do (defrecord R [x]
            #?@(:clj [Object (toString [_] "R")]))))
(defn shared
  "Everywhere."
  [x]
  #?(:default x))
