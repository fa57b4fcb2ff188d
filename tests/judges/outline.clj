;; The outline of Clojure files by tools.reader: java -cp clojure.jar:tools.reader.jar clojure.main outline.clj < paths;
;; a line of EDN for each file, nil where it does not read: [[namespace name kind first-line last-line private? docstring]
;; ...] of what the top-level forms define.
(require '[clojure.tools.reader :as reader] '[clojure.tools.reader.reader-types :as types])

(def kinds
  '{ns "module" def "variable" defonce "variable" defn "function" defn- "function" defmacro "macro" defmulti "function"
    defmethod "method" definline "function" deftest "function" defprotocol "interface" definterface "interface"
    defrecord "class" deftype "class" defstruct "struct"})
(def transparent '#{do let when when-not when-let if if-not if-let binding with-redefs letfn})

(defn read-all [path]
  (let [in (types/indexing-push-back-reader (java.io.PushbackReader. (java.io.StringReader. (slurp path)) 4))
        end (Object.)]
    (binding [reader/*alias-map* identity reader/*read-eval* false reader/*default-data-reader-fn* (fn [_ value] value)]
      (loop [forms []]
        (let [form (reader/read {:read-cond :preserve :eof end} in)]
          (if (identical? form end) forms (recur (conj forms form))))))))

(defn branches [form]
  (if (reader-conditional? form)
    (mapcat (if (:splicing? form) (fn [[_ forms]] (mapcat branches forms)) (fn [[_ inner]] (branches inner)))
            (partition 2 (:form form)))
    [form]))

(defn head [form] (when (and (seq? form) (symbol? (first form))) (symbol (name (first form)))))

(defn line [form key] (get (meta form) key))

(defn method [space owner form]
  (when (and (seq? form) (symbol? (first form)) (some vector? (rest form)))
    [[(str space "." owner) (str (first form)) "method" (line form :line) (line form :end-line) false
      (when (string? (last form)) (last form))]]))

(defn definition [space form kind]
  (let [[_ defined & more] (mapcat branches form)
        listed (if (string? (first more)) (if (or (next more) ('#{ns defprotocol} (head form))) more (cons nil more)) (cons nil more))
        variable? ('#{def defonce} (head form))
        attributes (cond (map? (first more)) (first more) (map? (second more)) (second more))
        described? (not ('#{defmethod defrecord deftype definterface defstruct deftest} (head form)))
        doc (or (when described? (first listed)) (:doc (meta defined)) (:doc attributes))
        kind (or kind (if (some #(or (vector? %) (and (seq? %) (vector? (first %)))) more) "function" "variable"))]
    (when (and (symbol? defined))
      (cons [(when-not (= 'ns (head form)) space) (str defined) kind (line form :line) (line form :end-line)
             (boolean (or ('#{defn- def- defmacro- defonce-} (head form)) (:private (meta defined)) (:private attributes)))
             (when (string? doc) doc)]
            (when (#{"interface" "class"} kind)
              (mapcat #(method (str (when space (str space ".")) defined) nil %) (mapcat branches more)))))))

(defn outline [path]
  (let [space (atom nil) found (atom [])]
    ((fn walk [forms]
       (doseq [form (mapcat branches forms) :let [head (head form)]]
         (cond
           (transparent head) (walk (rest form))
           (= 'in-ns head) (reset! space (str (second (second form))))
           (and head (or (kinds head) (re-find #"^def(?!ault|ined|inition$)" (str head))))
           (do (when (and (= 'ns head) (symbol? (second form))) (reset! space (str (second form))))
               (swap! found into (definition @space form (kinds head)))))))
     (read-all path))
    @found))

(defn json [value]
  (cond (string? value) (str \" (-> value (.replace "\\" "\\\\") (.replace "\"" "\\\"") (.replace "\n" "\\n") (.replace "\t" "\\t")
                                    (.replace "\r" "\\r") (.replace "\f" "\\f") (.replace "\b" "\\b")) \")
        (sequential? value) (str "[" (apply str (interpose "," (map json value))) "]")
        (nil? value) "null"
        :else (str value)))

(doseq [path (line-seq (java.io.BufferedReader. *in*))]
  (println (try (json (outline path)) (catch Throwable _ "null"))))
