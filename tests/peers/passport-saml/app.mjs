// An application with passport-saml: its first page says who has signed in. The recipe stands where it says.
import express from 'express'
import passport from 'passport'
import session from 'express-session'

const app = express()
app.use(session({ secret: process.env.SESSION_SECRET, resave: false, saveUninitialized: true }))
app.use(passport.initialize(), passport.session())
passport.serializeUser((user, done) => done(null, user))
passport.deserializeUser((user, done) => done(null, user))
// The recipe.
app.get('/', (request, response) => {
  const user = request.user
  response.send(user
    ? `<p id="state">${user.attributes.email}${user.isAdmin ? ' (admin)' : ''}</p><a id="out" href="/sign-out">out</a>`
    : '<p id="state">nobody</p><a id="in" href="/sign-in">in</a>')
})
app.listen(Number(process.env.PORT), 'localhost')
