// An application with Auth.js: its first page says who has signed in. The recipe stands where it says.
import express from 'express'
import { getSession } from '@auth/express'

const app = express()
// The recipe.
app.get('/', async (request, response) => {
  const user = (await getSession(request, config))?.user
  response.send(user
    ? `<p id="state">${user.email}${user.isAdmin ? ' (admin)' : ''}</p><a id="out" href="/sign-out">out</a>`
    : '<p id="state">nobody</p>')
})
app.listen(Number(process.env.PORT), 'localhost')
