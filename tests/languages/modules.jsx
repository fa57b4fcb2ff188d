import React, { useState as state, memo } from 'react'
import * as ns from './ns'
import './style.css'

/**
 * A button.
 *
 * @param {object} props
 */
export const Button = ({ label, onClick }) => {
  const [on, setOn] = state(false)
  return <button onClick={() => setOn(!on)}>{label /* inside */}{'// no comment'}</button>
}

export default class extends React.Component {
  static defaultProps = { size: 1 }
  #secret = 1
  handle = (event) => {
    event.preventDefault()
  }
  get value() {
    return `// no comment ${this.#secret}`
  }
  async *rows() {}
  _private() {}
}
const api = {
  list() {},
  remove: function (id) {},
}
export { Button as default2, memo }
export * from './more'
let a = 1, b = () => 2
const lazy = () => import('./lazy')
