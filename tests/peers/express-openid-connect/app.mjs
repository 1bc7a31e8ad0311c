// An application with express-openid-connect: its first page says who has signed in. The recipe stands where it says.
import express from 'express'

const app = express()
// The recipe.
app.get('/', (request, response) => {
  const user = request.oidc.user
  response.send(user
    ? `<p id="state">${user.email}${isAdmin(request) ? ' (admin)' : ''}</p><a id="out" href="/logout">out</a>`
    : '<p id="state">nobody</p><a id="in" href="/private">in</a>')
})
app.get('/private', requiresAuth(), (request, response) => response.redirect('/'))
app.listen(Number(process.env.PORT), 'localhost')
