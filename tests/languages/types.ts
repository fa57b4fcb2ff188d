import type { Config } from './config'
import fs = require('fs')
import { Injectable } from '@angular/core'

/** How it is shown. */
export interface Shape extends Config {
  area(): number
  name: string
}
export type Point = { x: number; y: number }
declare const VERSION: string
export declare function load(path: string): void

@Injectable()
@Logged('x')
export abstract class Service<T> {
  private readonly cache = new Map<string, T>()
  constructor(protected http: Http, readonly depth = 1, @Inject() private log?: Log, retries: number) {
    function local() {}
  }
  /** Fetch it. */
  @Memo()
  protected async fetch(key: string): Promise<T> {
    return this.cache.get(key)!
  }
  get(key: string): T
  get(key: number): T
  get(key: any): T { return key }
  abstract close(): void
}

export const enum Color { Red, Green = 'g' }

namespace Geometry.Plane {
  export const ORIGIN = 0
  function distance(a: Point & { local: number }) {}
}
declare module 'untyped' {
  export function g(): void
}
export = Service
