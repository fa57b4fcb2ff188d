#!/usr/bin/env node
'use strict'
// Not a documentation comment.
const http = require('node:http'), { get, set: put } = require('./lib/store')
require('./side-effect')

/** Start the server. */
exports.start = function start(port) {
  const local = 1
  return http.createServer(handle).listen(port)
}
/* plain comment */
exports.VERSION = '1.0'

function Router() {
  this.match = (path) => path
}
Router.prototype.use = function (handler) {}
Router.get =
Router.head = async function (path, ...rest) {}

module.exports = Router
if (x) { /* not a line */ y() } /* nor this */
module.exports = function serve(port) {}
module.exports.stop = async () => {}
