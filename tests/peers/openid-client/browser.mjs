// A browser without a screen: it keeps cookies, follows redirects, signs in and presses the first button of a page.

const decode = (text) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&#34;', '"')

export class Browser {
  constructor(email, password) {
    this.answers = { email, password }
    this.cookies = new Map()
  }

  // Opens an address, and returns the address of another site to which it leads, or the last page.
  async open(address, own) {
    let answer = await this.send(address)
    for (let step = 0; step < 15; step += 1) {
      const next = await this.next(answer, own)
      if (typeof next === 'string') return next
      if (next === null) return answer.text
      answer = await next
    }
    throw new Error('the browser goes in circles')
  }

  async next(answer, own) {
    if (answer.location) {
      const target = new URL(answer.location, answer.address)
      return target.origin === own ? this.send(target.href) : target.href
    }
    if (answer.refresh) return answer.refresh.split('; url=')[1]
    const form = /<form method="post" action="([^"]*)">([\s\S]*?)<\/form>/.exec(answer.text)
    if (!form) return null
    const fields = new URLSearchParams()
    for (const [input] of form[2].matchAll(/<input[^>]*>/g)) {
      const name = /name="([^"]*)"/.exec(input)?.[1]
      const value = decode(/value="([^"]*)"/.exec(input)?.[1] ?? '')
      if (name && !input.includes('checkbox')) fields.set(name, this.answers[name] ?? value)
    }
    return this.send(new URL(form[1], answer.address).href, fields)
  }

  async send(address, body) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(address, {
      method: body ? 'POST' : 'GET',
      body,
      redirect: 'manual',
      headers: { accept: 'text/html', cookie },
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]*)=([^;]*)/.exec(line)
      this.cookies.set(name, value)
    }
    const [location, refresh] = ['location', 'refresh'].map((name) => response.headers.get(name))
    return { address, location, refresh, text: await response.text() }
  }
}
