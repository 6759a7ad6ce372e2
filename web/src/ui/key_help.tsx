// What each key does. Fetched when nothing else goes on.
import { Dialog } from './parts'

const keys: [string, string][] = [
  ['j k', 'next, previous'], ['g G', 'first, last'], ['o', 'open'], ['/', 'search'], ['space', 'select'], ['⇧A', 'decide the selected or the group'],
  ['a', 'approve'], ['w', 'approve with a note'], ['s', 'approve, and similar for a while'], ['r', 'reject'], ['m', 'modify'], ['v', 'answer'], ['d', 'defer'], ['e', 'escalate'], ['x', 'abort the run'], ['n', 'not now: put it off'], ['+', 'five more minutes'],
  ['z', 'take the last decision back'], ['1 – 4', 'a prepared reason'], ['Esc', 'back'], ['?', 'these keys'],
]

export default function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="m-0 grid grid-cols-[6rem_1fr] gap-y-2">
        {keys.map(([name, what]) => (
          <div key={name} className="contents">
            <dt>
              <kbd className="key">{name}</kbd>
            </dt>
            <dd className="m-0 text-soft">{what}</dd>
          </div>
        ))}
      </dl>
      <p className="mb-0 mt-5 text-[0.875rem] text-faint">A held key decides once. For 0.4 seconds after another request or a second question came up, deciding keys do nothing. Settings switches all single keys off.</p>
    </Dialog>
  )
}
