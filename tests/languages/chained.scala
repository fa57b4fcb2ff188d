package org
package shapes
package inner

import shapes.Circle

object Chained
