// The policy in force: its text and parts, why it judges a call as it does, what another one would have done, and what it
// could stop asking.
import { useMemo, useState } from 'react'
import { useLocation } from 'wouter'
import { client } from '../client'
import { sentence } from '../errors'
import { visibleText } from '../model/marked_text'
import { ownText, readPolicyText, type Part } from '../model/policy_text'
import { formatMoment } from '../model/time'
import { plural } from '../model/words'
import { useAddressQuery } from '../state/address'
import { useLoad } from '../state/load'
import { tell } from '../state/notices'
import { useMe } from '../state/session'
import { WarnIcon } from '../ui/icons'
import { CopyButton, Fold, Page, PageHead, Problem, Spinner, Tabs } from '../ui/parts'
import type { Policy } from '../wire'
import { BacktestTab } from './backtest_tab'
import { ExplainTab } from './explain_tab'
import { SuggestTab } from './suggest_tab'
import { SourceLines } from './explanation_view'

type Tab = 'source' | 'explain' | 'backtest' | 'suggest' | 'versions'
const tabs: [Tab, string][] = [['source', 'In force'], ['explain', 'Explain a call'], ['backtest', 'Try another'], ['suggest', 'Suggestions'], ['versions', 'Versions']]

const originWord: Record<Policy['origin'], string> = { file: 'from a file on the server', store: 'set here', flags: 'as the server was started' }
const sectionWord: Record<string, string> = { tools: 'Tools', approvers: 'Approvers', gates: 'Gates', rules: 'Rules', risk: 'Risk', tests: 'Tests', counters: 'Counters', vars: 'Variables', grants: 'Grants', trust: 'Trust', defaults: 'Defaults' }
const effectTone: Record<string, string> = { allow: 'text-yes', require: 'text-medium', deny: 'text-no' }

type Place = { document: number; line: number }

function Outline({ parts, onPick }: { parts: Part[]; onPick: (place: Place) => void }) {
  const sections = [...new Set(parts.map((part) => part.section))]
  return (
    <nav aria-label="Parts of the policy" className="text-[0.875rem]">
      {sections.map((section) => {
        const own = parts.filter((part) => part.section === section)
        const [only] = own
        if (only && only.name === section)
          return (
            <h2 key={section} className="mb-3">
              <button type="button" className="label min-h-6 hover:underline" onClick={() => onPick({ document: only.document, line: only.from })}>
                {sectionWord[section]}
              </button>
            </h2>
          )
        return (
          <div key={section} className="mb-4">
            <h2 className="label mb-1">
              {sectionWord[section] ?? section} {own.length > 1 && <span className="font-normal">{own.length}</span>}
            </h2>
            <ul className="m-0 list-none p-0">
              {own.slice(0, 200).map((part, i) => (
                <li key={i}>
                  <button type="button" className="foreign-line block min-h-6 w-full text-left hover:underline" onClick={() => onPick({ document: part.document, line: part.from })}>
                    {visibleText(part.name)} {part.effect && <span className={`text-[0.8125rem] ${effectTone[part.effect] ?? 'text-faint'}`}>{part.effect}</span>}
                  </button>
                </li>
              ))}
            </ul>
          </div>
        )
      })}
    </nav>
  )
}

function Source({ policy, onChanged }: { policy: Policy; onChanged: () => void }) {
  const me = useMe()
  const read = useMemo(() => readPolicyText(policy.text), [policy.text])
  const [marked, setMarked] = useState<Place | null>(null)
  const show = (place: Place) => {
    setMarked(place)
    document.querySelector(`[data-document="${place.document}"] [data-line="${place.line}"]`)?.scrollIntoView({ block: 'center' })
  }
  const reload = async () => {
    try {
      const next = await client.reloadPolicy()
      tell(next.version === policy.version ? 'The file has not changed.' : 'The file is in force now.', { tone: 'good' })
      onChanged()
    } catch (error) {
      tell(sentence(error), { tone: 'bad' })
    }
  }
  return (
    <>
      <div className="mb-5 flex flex-wrap items-center gap-x-6 gap-y-2 text-[0.9375rem] text-soft">
        <span>
          <b className="font-semibold text-ink">{visibleText(policy.name ?? 'No policy')}</b>, {originWord[policy.origin]}
        </span>
        <span className="tabular">
          {plural(policy.rules, 'rule')}, {plural(policy.gates, 'gate')}, {plural(policy.tests, 'test')}
        </span>
        <span className="font-mono text-[0.8125rem] text-faint" title={policy.version}>
          {policy.version.replace(/^sha256:/, '').slice(0, 12)}
        </span>
        {policy.origin === 'file' && me.role === 'admin' && (
          <button type="button" className="btn sm:ml-auto" onClick={() => void reload()}>
            Read the file again
          </button>
        )}
      </div>
      {policy.is_disabled && (
        <p className="mb-4 flex items-start gap-2 rounded-lg bg-medium-wash px-4 py-3">
          <WarnIcon /> <span>This policy is switched off: nothing is judged by it.</span>
        </p>
      )}
      {policy.warnings.length > 0 && (
        <ul className="m-0 mb-4 list-none rounded-lg bg-medium-wash px-4 py-3">
          {policy.warnings.map((warning, i) => (
            <li key={i} className="foreign">
              <button type="button" className="btn-link" onClick={() => show({ document: 0, line: warning.line })}>
                line {warning.line}
              </button>{' '}
              {visibleText(warning.message)}
            </li>
          ))}
        </ul>
      )}
      {policy.text ? (
        <div className="grid gap-4 lg:grid-cols-[13rem_1fr] lg:gap-8">
          <div className="lg:hidden">
            <Fold title="Parts of the policy">
              <Outline parts={read.parts} onPick={show} />
            </Fold>
          </div>
          <div className="hidden lg:sticky lg:top-0 lg:block lg:max-h-[calc(100dvh-9rem)] lg:overflow-y-auto" tabIndex={0} role="region" aria-label="Outline">
            <Outline parts={read.parts} onPick={show} />
          </div>
          <div className="grid min-w-0 gap-6">
            {read.documents.map((one, i) => (
              <div key={i} data-document={i} className="min-w-0">
                <div className="flex min-h-9 items-center justify-between">
                  <h2 className="label foreign-line">{i === 0 ? 'Source' : `What it extends: ${visibleText(one.name)}`}</h2>
                  <CopyButton text={one.text} />
                </div>
                <SourceLines text={one.text} from={1} to={one.text.trimEnd().split('\n').length} marked={marked?.document === i ? marked.line : 0} />
              </div>
            ))}
          </div>
        </div>
      ) : (
        <div className="mx-auto max-w-xl py-10 text-center">
          <h2 className="text-lg">Every tool is held</h2>
          <p className="mt-2 text-soft">
            Without a policy nothing runs before a person has approved it. {me.role === 'admin' ? 'Write one under “Try another”: it shows what it would have done with the past before you put it in force.' : 'An admin can put one in force.'}
          </p>
        </div>
      )}
    </>
  )
}

function Versions() {
  const { data, error, is_loading } = useLoad('policy versions', client.policyVersions)
  const [open, setOpen] = useState<string | null>(null)
  const text = useLoad(open ? `policy ${open}` : null, () => client.policyVersion(open!), { fresh_ms: 600_000 })
  return (
    <>
      <Problem error={error} />
      {is_loading && <Spinner />}
      {data?.length === 0 && <p className="py-10 text-center text-soft">No policy was ever put in force here.</p>}
      <ul className="m-0 list-none p-0">
        {data?.map((version) => (
          <li key={version.version} className="border-b border-line py-2.5">
            <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
              <button type="button" aria-expanded={open === version.version} className="btn-link font-mono text-[0.875rem]" onClick={() => setOpen(open === version.version ? null : version.version)}>
                {version.version.replace(/^sha256:/, '').slice(0, 12)}
              </button>
              {version.is_in_force && <span className="chip bg-added text-ink">in force</span>}
              <span className="text-soft">{visibleText(version.by ?? 'the server')}</span>
              <span className="tabular ml-auto text-[0.875rem] text-faint">{formatMoment(version.at)}</span>
            </div>
            {open === version.version && (
              <div className="mt-2">
                {text.is_loading && <Spinner />}
                <Problem error={text.error} />
                {text.data?.text != null && <SourceLines text={ownText(text.data.text)} from={1} to={ownText(text.data.text).trimEnd().split('\n').length} />}
              </div>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

export default function PolicyScreen() {
  const search = new URLSearchParams(useAddressQuery())
  const [, navigate] = useLocation()
  const tab = tabs.find(([key]) => key === search.get('tab'))?.[0] ?? 'source'
  const policy = useLoad('policy', client.policy)
  const pick = (next: Tab) => navigate(next === 'source' ? '/policy' : `/policy?tab=${next}`, { replace: true })
  return (
    <Page>
      <PageHead title="Policy" />
      <Tabs label="Parts of this screen" tabs={tabs} value={tab} onPick={pick} />
      <Problem error={policy.error} />
      {policy.is_loading && <Spinner />}
      {policy.data && tab === 'source' && <Source policy={policy.data} onChanged={policy.renew} />}
      {policy.data && tab === 'explain' && <ExplainTab />}
      {policy.data && tab === 'backtest' && <BacktestTab policy={policy.data} onChanged={policy.renew} />}
      {policy.data && tab === 'suggest' && <SuggestTab policy={policy.data} onTake={() => pick('backtest')} />}
      {tab === 'versions' && <Versions />}
    </Page>
  )
}
