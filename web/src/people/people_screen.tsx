// People, agents and keys, for admins.
import { useRef, useState, type FormEvent, type ReactNode } from 'react'
import { client } from '../client'
import { sentence } from '../errors'
import { visibleText } from '../model/marked_text'
import { formatMoment } from '../model/time'
import { HiddenHint, hintOf } from '../ui/hidden_hint'
import { useLoad } from '../state/load'
import { useMe } from '../state/session'
import { tell } from '../state/notices'
import { browserName } from '../state/push'
import { CopyButton, Dialog, PageHead, Problem, Spinner } from '../ui/parts'
import type { Key, Role, User } from '../wire'

type Shown = { title: string; text: string; hint: string }
type Open = { type: 'person' } | { type: 'key' } | { type: 'groups'; user: User } | { type: 'sessions'; user: User } | { type: 'secret'; shown: Shown } | { type: 'revoke'; key: Key } | { type: 'disable'; user: User }

const belongsTo = (user: User): string => (user.role === 'agent' ? (user.owner ?? '') : user.groups.join(', '))

const splitGroups = (text: string): string[] => [...new Set(text.split(',').map((group) => group.trim()).filter(Boolean))]

function Form({ children, button, onSubmit }: { children: ReactNode; button: string; onSubmit: () => Promise<void> }) {
  const [error, setError] = useState<string | null>(null)
  // A double click is one order.
  const is_busy = useRef(false)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (is_busy.current) return
    is_busy.current = true
    setError(null)
    await onSubmit().catch((caught: unknown) => setError(sentence(caught)))
    is_busy.current = false
  }
  return (
    <form className="grid gap-3.5" onSubmit={submit}>
      {children}
      {error && (
        <p role="alert" className="m-0 text-no">
          {error}
        </p>
      )}
      <button type="submit" className="btn btn-yes justify-self-start">
        {button}
      </button>
    </form>
  )
}

function Text({ id, label, value, onChange, is_required = false }: { id: string; label: string; value: string; onChange: (value: string) => void; is_required?: boolean }) {
  return (
    <div>
      <label htmlFor={id} className="label mb-1 block">
        {label}
      </label>
      <input id={id} aria-describedby={hintOf(id, value)} className="field" required={is_required} autoComplete="off" maxLength={200} value={value} onChange={(event) => onChange(event.target.value)} />
      <HiddenHint id={id} text={value} />
    </div>
  )
}

function RolePick({ roles, value, onChange }: { roles: Role[]; value: Role; onChange: (role: Role) => void }) {
  return (
    <div>
      <label htmlFor="role" className="label mb-1 block">
        Role
      </label>
      <select id="role" className="field" value={value} onChange={(event) => onChange(event.target.value as Role)}>
        {roles.map((role) => (
          <option key={role}>{role}</option>
        ))}
      </select>
    </div>
  )
}

function NewPerson({ onDone }: { onDone: (user: User) => Promise<void> }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('approver')
  const [groups, setGroups] = useState('')
  return (
    <Form button="Make, and get a sign-in link" onSubmit={async () => onDone(await client.createUser({ name: name.trim(), role, groups: splitGroups(groups) }))}>
      <Text id="name" label="Name" value={name} onChange={setName} is_required />
      <RolePick roles={['approver', 'auditor', 'admin']} value={role} onChange={setRole} />
      <Text id="groups" label="Groups, separated by commas" value={groups} onChange={setGroups} />
    </Form>
  )
}

function NewKeyForm({ onDone }: { onDone: (shown: Shown) => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('agent')
  const [owner, setOwner] = useState('')
  return (
    <Form
      button="Make the key"
      onSubmit={async () => {
        const made = await client.createKey({ name: name.trim(), role, ...(role === 'agent' && owner.trim() ? { owner: owner.trim() } : {}) })
        onDone({ title: `The key of ${visibleText(made.name)}`, text: made.key, hint: 'It is shown here and never again.' })
      }}
    >
      <Text id="name" label="Name" value={name} onChange={setName} is_required />
      <RolePick roles={['agent', 'approver', 'auditor', 'admin']} value={role} onChange={setRole} />
      {role === 'agent' && <Text id="owner" label="The person responsible for it" value={owner} onChange={setOwner} />}
    </Form>
  )
}

function Groups({ user, onStale, onDone }: { user: User; onStale: () => void; onDone: () => void }) {
  const [groups, setGroups] = useState(user.groups.join(', '))
  return (
    <Form
      button="Set the groups"
      onSubmit={async () => {
        // Somebody else's change must not be undone unseen.
        const now = (await client.users()).find((one) => one.name === user.name)
        if (now?.groups.join() !== user.groups.join()) {
          onStale()
          throw new Error('Somebody else changed these groups meanwhile: close this and look again.')
        }
        await client.setGroups(user.name, splitGroups(groups))
        onDone()
      }}
    >
      <Text id="groups" label="Groups, separated by commas" value={groups} onChange={setGroups} />
    </Form>
  )
}

/** Who stands behind the names that policies and escalations use. */
function GroupList({ users }: { users: User[] }) {
  const people = users.filter((user) => user.role !== 'agent' && !user.disabled)
  const groups = [...new Set(people.flatMap((user) => user.groups))].sort()
  if (groups.length === 0) return <p className="m-0 text-soft">No group yet. Put people into one with the button Groups; policies ask groups, and requests are escalated to them.</p>
  return (
    <dl className="m-0 border-t border-edge">
      {groups.map((group) => (
        <div key={group} className="grid gap-x-4 border-b border-line py-2 sm:grid-cols-[12rem_1fr]">
          <dt className="foreign-line font-medium">{visibleText(group)}</dt>
          <dd className="foreign m-0 text-soft">
            {visibleText(
              people
                .filter((user) => user.groups.includes(group))
                .map((user) => (user.role === 'auditor' ? `${user.name} (looks only)` : user.name))
                .join(', '),
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function SessionsOf({ user }: { user: User }) {
  const { data, error, is_loading, renew } = useLoad(`sessions of ${user.name}`, () => client.sessions(user.name))
  const end = (id: string) => client.revokeSession(id).then(renew, (caught: unknown) => tell(sentence(caught), { tone: 'bad' }))
  return (
    <>
      <Problem error={error} />
      {is_loading && <Spinner />}
      {data?.length === 0 && <p className="m-0 text-soft">Not signed in anywhere.</p>}
      <ul className="m-0 list-none p-0">
        {data?.map((session) => (
          <li key={session.id} className="flex items-center gap-4 border-b border-line py-2.5 last:border-0">
            <div className="min-w-0 flex-1">
              <p className="foreign m-0 font-medium">{visibleText(session.user_agent ? browserName(session.user_agent) : 'A browser')}</p>
              <p className="foreign m-0 text-[0.875rem] text-soft">
                {visibleText(session.address ?? '')} since {formatMoment(session.created_at)}
              </p>
            </div>
            <button type="button" className="btn btn-quiet px-2 text-no" onClick={({ detail }) => void (detail < 2 && end(session.id))}>
              Sign out
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

export default function PeopleScreen() {
  const me = useMe()
  const users = useLoad('users', client.users)
  const keys = useLoad(me.role === 'admin' ? 'keys' : null, client.keys)
  const [open, setOpen] = useState<Open | null>(null)
  const close = () => setOpen(null)
  const renew = () => {
    users.renew()
    keys.renew()
  }
  const done = () => {
    renew()
    close()
  }
  const showLink = async (name: string) => {
    const link = await client.createLink(name)
    renew()
    setOpen({ type: 'secret', shown: { title: `A sign-in link for ${visibleText(name)}`, text: link.url, hint: `It works once, until ${formatMoment(link.expires_at)}. Send it to ${visibleText(name)} and to nobody else.` } })
  }
  const attempt = (work: Promise<unknown>) => void work.then(renew).catch((error: unknown) => tell(sentence(error), { tone: 'bad' }))
  const live_keys = (keys.data ?? []).filter((key) => !key.revoked_at)
  const head = 'py-1.5 pr-4 text-left text-[0.8125rem] font-medium text-faint'
  const cell = 'align-baseline md:py-2 md:pr-4'
  return (
    <main id="main" tabIndex={0} className="relative min-h-0 flex-1 overflow-y-auto focus-visible:-outline-offset-2">
      <div className="mx-auto max-w-6xl px-5 py-8 md:px-8">
        <PageHead title="People and agents">
          <button type="button" className="btn" onClick={() => setOpen({ type: 'person' })}>
            New person
          </button>
        </PageHead>
        {(users.error ?? keys.error) !== undefined && <p role="alert" className="text-no">{sentence(users.error ?? keys.error)}</p>}
        {/* All at once: nothing moves when the rest is there. */}
        {users.is_loading || keys.is_loading ? (
          <Spinner />
        ) : (
          <>
            <div tabIndex={0} role="region" aria-label="People and agents" className="relative overflow-x-auto">
              <table role="table" className="rows w-full border-collapse text-[0.9375rem] md:min-w-[44rem]">
                <thead role="rowgroup">
                  <tr role="row" className="border-b border-edge">
                    <th role="columnheader" scope="col" className={head}>Name</th>
                    <th role="columnheader" scope="col" className={head}>Role</th>
                    <th role="columnheader" scope="col" className={head}>Groups or owner</th>
                    <th role="columnheader" scope="col" className={head}>Can sign in with</th>
                    <th role="columnheader" scope="col" className={head}>
                      <span className="sr-only">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody role="rowgroup">
                  {users.data?.map((user) => (
                    <tr role="row" key={user.id} className={`border-b border-line ${user.disabled ? 'text-faint' : ''}`}>
                      <td role="cell" className={`${cell} font-medium`}>
                        {visibleText(user.name)}
                        {user.disabled && <span className="chip ml-2">disabled</span>}
                      </td>
                      <td role="cell" className={cell}>{user.role}</td>
                      <td role="cell" className={`${cell} text-soft ${belongsTo(user) ? '' : 'max-md:hidden'}`}>{visibleText(belongsTo(user) || '–')}</td>
                      <td role="cell" className={`${cell} text-soft`}>{user.role === 'agent' ? 'nothing: it has a key' : user.has_password ? 'password, link, passkey' : 'link, passkey'}</td>
                      <td role="cell" className={`${cell} md:whitespace-nowrap md:text-right`}>
                        {user.role !== 'agent' && !user.disabled && (
                          <>
                            <button type="button" className="btn btn-quiet min-h-8 px-2 text-accent" onClick={() => setOpen({ type: 'groups', user })}>
                              Groups
                            </button>
                            <button type="button" className="btn btn-quiet min-h-8 px-2 text-accent" onClick={() => setOpen({ type: 'sessions', user })}>
                              Sessions
                            </button>
                            <button type="button" className="btn btn-quiet min-h-8 px-2 text-accent" onClick={() => attempt(showLink(user.name))}>
                              Link
                            </button>
                          </>
                        )}
                        {user.name !== me.name &&
                          (user.disabled ? (
                            <button type="button" className="btn btn-quiet min-h-8 px-2 text-accent" onClick={() => attempt(client.setEnabled(user.name, true))}>
                              Enable
                            </button>
                          ) : (
                            <button type="button" className="btn btn-quiet min-h-8 px-2 text-no" onClick={() => setOpen({ type: 'disable', user })}>
                              Disable
                            </button>
                          ))}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            <h2 className="mb-2 mt-12 text-lg">Groups</h2>
            <GroupList users={users.data ?? []} />
            <header className="mb-2 mt-12 flex items-end justify-between gap-4">
              <h2 className="text-lg">Keys</h2>
              <button type="button" className="btn" onClick={() => setOpen({ type: 'key' })}>
                New key
              </button>
            </header>
            <div tabIndex={0} role="region" aria-label="Keys" className="relative overflow-x-auto">
              <table role="table" className="rows w-full border-collapse text-[0.9375rem] md:min-w-[44rem]">
                <thead role="rowgroup">
                  <tr role="row" className="border-b border-edge">
                    <th role="columnheader" scope="col" className={head}>Of</th>
                    <th role="columnheader" scope="col" className={head}>Begins with</th>
                    <th role="columnheader" scope="col" className={head}>Made</th>
                    <th role="columnheader" scope="col" className={head}>Ends</th>
                    <th role="columnheader" scope="col" className={head}>
                      <span className="sr-only">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody role="rowgroup">
                  {live_keys.map((key) => (
                    <tr role="row" key={key.id} className="border-b border-line">
                      <td role="cell" className={`${cell} font-medium`}>
                        {visibleText(key.name)} <span className="font-normal text-faint">· {key.role}</span>
                      </td>
                      <td role="cell" className={`${cell} font-mono text-[0.875rem] text-soft`}>{key.hint}…</td>
                      <td role="cell" data-label="made" className={`${cell} tabular text-soft`}>{formatMoment(key.created_at)}</td>
                      <td role="cell" data-label="ends" className={`${cell} tabular text-soft`}>{key.expires_at ? formatMoment(key.expires_at) : 'when revoked'}</td>
                      <td role="cell" className={`${cell} md:text-right`}>
                        <button type="button" className="btn btn-quiet min-h-8 px-2 text-no" onClick={() => setOpen({ type: 'revoke', key })}>
                          Revoke
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
      </div>
      {open?.type === 'person' && (
        <Dialog title="A new person" onClose={close}>
          <NewPerson onDone={(user) => showLink(user.name)} />
        </Dialog>
      )}
      {open?.type === 'key' && (
        <Dialog title="A new key" onClose={close}>
          <NewKeyForm onDone={(shown) => (renew(), setOpen({ type: 'secret', shown }))} />
        </Dialog>
      )}
      {open?.type === 'groups' && (
        <Dialog title={`Groups of ${visibleText(open.user.name)}`} onClose={close}>
          <Groups user={open.user} onStale={renew} onDone={done} />
        </Dialog>
      )}
      {open?.type === 'sessions' && (
        <Dialog title={`Where ${visibleText(open.user.name)} is signed in`} onClose={close}>
          <SessionsOf user={open.user} />
        </Dialog>
      )}
      {open?.type === 'secret' && (
        <Dialog title={open.shown.title} onClose={close}>
          <p className="mt-0">{open.shown.hint}</p>
          <p className="foreign m-0 rounded-lg bg-well p-3 font-mono text-[0.875rem]">{open.shown.text}</p>
          <div className="mt-2">
            <CopyButton text={open.shown.text} />
          </div>
        </Dialog>
      )}
      {open?.type === 'revoke' && (
        <Dialog title={`Revoke the key of ${visibleText(open.key.name)}?`} onClose={close}>
          <Form
            button="Revoke"
            onSubmit={async () => {
              await client.revokeKey(open.key.id)
              done()
            }}
          >
            <p className="m-0">It stops working at once, also on open streams. This cannot be undone.</p>
          </Form>
        </Dialog>
      )}
      {open?.type === 'disable' && (
        <Dialog title={`Disable ${visibleText(open.user.name)}?`} onClose={close}>
          <Form
            button="Disable"
            onSubmit={async () => {
              await client.setEnabled(open.user.name, false)
              done()
            }}
          >
            <p className="m-0">Keys and sessions of {visibleText(open.user.name)} stop working at once. You can enable them again later.</p>
          </Form>
        </Dialog>
      )}
    </main>
  )
}
