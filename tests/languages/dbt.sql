{# A comment of Jinja; {% macro no() %} is none. #}
{% macro star(from, except=[], suffix='100%') -%}
  {{ return(adapter.dispatch('star', 'dbt_utils')(from)) }}
{%- endmacro %}

{%- macro default__star(
    from,
    except
) %}
  create table {{ from }} (id int);
  create index i on {{ from }} (id);
{%+ endmacro -%}
{% test not_null(model, column_name) %}
  select * from {{ model }} where {{ column_name }} is null
{% endtest %}
{% materialization insert_by_period, default -%}
{% endmaterialization %}
{% snapshot orders %}
select 1;
{% endsnapshot %}
CREATE VIEW seen AS SELECT * FROM {{ ref('orders') }};
{% macro größe(a) %}{% endmacro %}
{% if x %}{% set macro = 1 %}{% endif %}
{% macro open_to_the_end() %}
