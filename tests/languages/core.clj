#!/usr/bin/env clojure
;; A header, not documentation.
(ns ^{:author "me"} my.app.core
  "The core of
  the application."
  {:added "1.0"}
  (:refer-clojure :exclude [get])
  (:require [clojure.string :as str :refer [join split]]
            clojure.set
            [clojure.test :refer :all]
            [a.b :rename {c d} :refer [c]]
            (clojure [walk :as w] zip))
  (:use clojure.pprint [x.y :only [z]])
  (:import java.util.Date
           (java.io File Reader)
           [java.net URL]))

(def x 1)
(def ^:private secret "a value")
(def ^{:private true :doc "In metadata."} hidden-too)
(def ^:const limit 10)
(def PI "The \"number\"." 3.14)
(defonce ^String state (atom {}))
(declare later)

; above
(defn add
  "Adds
  two numbers."
  {:added "1.1"}
  ^long [a b]
  (+ a b)) ; behind

(defn- private-one
  ([a] (private-one a 1))
  ([a b] [a b]))
(defn attributes {:private true :doc "In the map."} [])
(defmacro unless [test & body] `(if ~test nil (do ~@body (def ~'not-this 1))))
(defmulti area "Of a shape." :shape)
(defmethod area :circle
  [{:keys [r]}]
  (* Math/PI r r))
(defmethod clojure.core/print-method Shape [s w])

(defprotocol Shape
  "A shape."
  (sides [this] "How many.")
  (scale [this x] [this x y]))
(definterface Old (^int size []))
(defrecord Square [side]
  Shape
  (sides [_] 4)
  (scale [_ x] (->Square (* side x))))
(deftype Point [^:unsynchronized-mutable x y])
(defstruct person :name)

(comment (def no-1 1))
#_(def no-2 2) #_ #_ (def no-3) (def no-4)
'(def no-5 1)
"(def no-6 1)" #"(def no-7 \" 1)"
[(def no-8 1)]
(let [open \( text "(" quote \" re #"[)]"]
  (defn inside-let [] open))
(do (def in-do 1)
    (when-not *x* (defn in-when [])))
(defroutes app (GET "/" [] "(def no-9)"))
(s/defn typed :- Int [x :- Int] x)
(s/def ::spec int?)
(deftest adding (is (= 3 (add 1 2))))
(defn naïve-name* [é'] #(inc %) #{1} #'add @state #inst "2020-01-01" #:a{:b 1} ##Inf)
(require '[q.r :as q] 's.t)
(in-ns 'my.other)
(def elsewhere 1)
