import { FC } from 'react'

// A type assertion would not parse here, an element would not parse in a .ts file.
export const Title: FC<{ text: string }> = ({ text }) => <h1>{text}</h1>
