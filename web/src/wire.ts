// Made from spec/openapi.yaml by `npm run wire`. Do not edit.

export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [name: string]: Json }

export type Kind = 'action' | 'plan' | 'input' | 'confirmation' | 'response'
export type State = 'pending' | 'settled'
export type Outcome = 'allowed' | 'denied' | 'approved' | 'modified' | 'rejected' | 'deferred' | 'aborted' | 'answered' | 'skipped' | 'expired' | 'cancelled'
export type RiskLevel = 'low' | 'medium' | 'high' | 'critical'
export type DecisionKind = 'approve' | 'reject' | 'modify' | 'defer' | 'escalate' | 'abort' | 'answer'
export type TimeoutAction = 'reject' | 'approve' | 'retry' | 'escalate' | 'abort' | 'skip' | 'default'
export type Role = 'agent' | 'approver' | 'auditor' | 'admin'
export type EventName = 'approval-required' | 'decision-recorded' | 'request-settled' | 'request-reminded' | 'request-escalated' | 'request-retried' | 'request-extended' | 'tool-result' | 'decision-held' | 'decision-undone'
export type RequestId = string
export type BatchId = string
export type PrincipalId = string
export type KeyId = string
export type SessionId = string
export type PasskeyId = string
export type PushSubscriptionId = string
export type Time = string
export type TimeOrNull = Time | null
export type TextOrNull = string | null
export type Digest = string
export type Label = string
export type LabelOrNull = string | null
export type Name = string
export type Tool = string
export type Groups = string[]
export type Password = string
export type Text = string
export type ActionProposal = {
  tool: Tool
  arguments?: JsonObject
  type?: string
  description?: TextOrNull
  expected_outcome?: TextOrNull
  reversible?: boolean | null
  estimated_cost?: number | null
}
export type PlanProposal = {
  title: Text
  steps: ({
    order?: number
    action: Text
    tool?: string | null
    description?: TextOrNull
    optional?: boolean
    approved?: Json
  })[]
  estimated_duration_s?: number | null
  modifiable?: boolean
}
export type InputProposal = {
  question: Text
  type?: 'text' | 'number' | 'choice' | 'multi_choice' | 'date' | 'file'
  required?: boolean
  default?: Json
  min?: number | null
  max?: number | null
  options?: string[] | null
  max_length?: number | null
  placeholder?: TextOrNull
}
export type ConfirmationProposal = {
  message: Text
  details?: TextOrNull
  confirm_label?: string
  cancel_label?: string
}
export type ResponseProposal = {
  text: Text
  format?: 'text' | 'markdown'
}
export type RiskProposal = RiskLevel | {
  level?: RiskLevel
  factors?: string[]
  consequences?: string[]
  reversibility?: 'fully' | 'partially' | 'irreversible' | null
  confidence?: number | null
}
export type RequirementProposal = {
  lines?: ({
    group?: string | null
    people?: Name[] | null
    quorum?: number
  })[]
  reason_required?: boolean
  modifiable?: boolean
  exclude_requester?: boolean
}
export type Context = {
  task_description?: string | null
  conversation_summary?: string | null
  steps_completed?: Json[] | null
  current_reasoning?: string | null
  relevant_history?: Json[] | null
  user_prompt?: string | null
}
export type Proposal = {
  kind?: Kind
  session?: LabelOrNull
  thread?: LabelOrNull
  task?: LabelOrNull
  user?: LabelOrNull
  action?: ActionProposal
  plan?: PlanProposal
  input?: InputProposal
  confirmation?: ConfirmationProposal
  response?: ResponseProposal
  risk?: RiskProposal
  context?: Context
  suggested?: Json
  metadata?: JsonObject | null
  timeout_s?: number
  on_timeout?: TimeoutAction
  remind_every_s?: number
  reminders_max?: number
  escalate_after_s?: number
  escalate_to?: string
  retries_max?: number
  requirement?: RequirementProposal
}
export type GrantTerms = {
  for_s?: number | null
  uses?: number | null
  sum?: number | null
  session?: boolean | null
  words?: number | null
}
export type Grant = {
  id: string
  state: 'active' | 'expired' | 'used_up' | 'outdated' | 'ended'
  agent: string
  tool: string
  session: TextOrNull
  covers: string
  pins: {
    path: string
    value: Json
  }[]
  bounds: {
    path: string
    at_most: number
  }[]
  command: string[] | null
  is_prefix: boolean
  risk_max: RiskLevel
  uses_left: number | null
  sum_left: number | null
  uses: number
  by: string
  request: RequestId
  policy: string
  created_at: Time
  expires_at: Time
  ended_at: TimeOrNull
  ended_by: TextOrNull
}
export type Grants = {
  grants: Grant[]
}
export type Check = {
  verdict: {
    kind: 'allow' | 'hold' | 'deny'
    rule: TextOrNull
    gate: TextOrNull
    risk: RiskLevel
    because: TextOrNull
    policy: TextOrNull
  }
  headline: TextOrNull
  risk: Json
  requirement?: Requirement
  timeout_s?: number
  on_timeout?: string
}
export type Policy = {
  name: TextOrNull
  version: string
  origin: 'file' | 'store' | 'flags'
  is_disabled: boolean
  rules: number
  gates: number
  tests: number
  warnings: {
    line: number
    column: number
    message: string
  }[]
  text: TextOrNull
  above: string[]
}
export type PolicyVersion = {
  version: string
  by: TextOrNull
  at: Time
  is_in_force: boolean
  text?: string
  above?: string[]
}
export type PolicyVersions = {
  versions: PolicyVersion[]
}
export type Explanation = {
  verdict: Json
}
export type PolicyCheck = {
  name: string
  version: string
  tools: number
  gates: number
  rules: number
  counters: number
  tests: number
  warnings: {
    line: number
    column: number
    message: string
  }[]
}
export type PolicyTests = {
  passed: number
  failed: number
  rules: number
  untested: string[]
  tests: {
    name: string
    line: number
    column: number
    passed: boolean
    message: string
  }[]
}
export type PolicyDiff = {
  changes: ({
    kind: 'added' | 'removed' | 'changed'
    direction: 'stricter' | 'looser' | 'unclear'
    what: string
    before: string
    after: string
  })[]
}
export type Backtest = Json
export type Suggestions = {
  suggestions: {
    id: string
    yaml: string
    approvals: number
    evidence: string[]
    backtest: Backtest
  }[]
}
export type DecisionCall = {
  decision: DecisionKind
  digest?: Digest | null
  note?: string | null
  reason?: string | null
  guidance?: string | null
  to?: string | null
  arguments?: JsonObject | null
  plan?: PlanProposal | null
  response?: ResponseProposal | null
  approved_steps?: number[] | null
  answer?: Json
  confirm?: string | null
  grant?: GrantTerms | null
  undo_s?: number | null
  passkey?: Assertion | null
}
export type DecisionOfMany = {
  id: RequestId
  decision: DecisionKind
  digest?: Digest | null
  note?: string | null
  reason?: string | null
  guidance?: string | null
  to?: string | null
  arguments?: JsonObject | null
  plan?: PlanProposal | null
  response?: ResponseProposal | null
  approved_steps?: number[] | null
  answer?: Json
  confirm?: string | null
  grant?: GrantTerms | null
  undo_s?: number | null
  passkey?: Assertion | null
}
export type DecisionResults = {
  results: ({
    id: string
    status: 200 | 400 | 403 | 404 | 409 | 410 | 422 | 429 | 503
    request?: Request
    error?: ErrorBody
  })[]
}
export type Action = {
  tool: Tool
  arguments: JsonObject
  type: string
  description?: TextOrNull
  expected_outcome?: TextOrNull
  reversible?: boolean | null
  estimated_cost?: number | null
}
export type Plan = {
  title: string
  steps: ({
    order: number
    action: string
    tool?: string | null
    description?: TextOrNull
    optional: boolean
    approved?: boolean | null
  })[]
  estimated_duration_s?: number | null
  modifiable: boolean
}
export type Input = {
  question: string
  type: 'text' | 'number' | 'choice' | 'multi_choice' | 'date' | 'file'
  required: boolean
  default?: Json
  min?: number | null
  max?: number | null
  options?: string[] | null
  max_length?: number | null
  placeholder?: TextOrNull
}
export type Confirmation = {
  message: string
  details?: TextOrNull
  confirm_label: string
  cancel_label: string
}
export type Response = {
  text: string
  format: 'text' | 'markdown'
}
export type Risk = {
  level: RiskLevel
  factors: string[]
  consequences: string[]
  reversibility: 'fully' | 'partially' | 'irreversible' | null
  confidence: number | null
  claimed: Json
}
export type Verdict = {
  kind: 'allow' | 'hold' | 'deny'
  rule: TextOrNull
  gate: TextOrNull
  because: TextOrNull
  policy: string | null
}
export type Requirement = {
  lines: ({
    group: string | null
    other_groups?: string[]
    people: string[] | null
    quorum: number
    have: number
  })[]
  reject_threshold: number
  reason_required: boolean
  modifiable: boolean
  exclude_requester: boolean
  confirm: string | null
}
export type Vote = {
  decision: DecisionKind
  by: string
  at: Time
}
export type Decision = {
  kind: DecisionKind
  by: string
  via: string
  at: Time
  note: TextOrNull
  reason: TextOrNull
  guidance: TextOrNull
  target: TextOrNull
  arguments: Json
  answer: Json
}
export type Release = {
  arguments?: JsonObject
  plan?: Plan
  response?: Response
  confirmation?: Json
  digest: Digest
  receipt: null
}
export type Report = {
  success: boolean
  result: Json
  error: TextOrNull
  at: Time
}
export type Request = {
  id: RequestId
  kind: Kind
  state: State
  outcome: Outcome | null
  session: LabelOrNull
  thread: LabelOrNull
  task: LabelOrNull
  user: LabelOrNull
  agent: Name
  owner: string | null
  batch: BatchId | null
  action?: Action
  plan?: Plan
  input?: Input
  confirmation?: Confirmation
  response?: Response
  proposed: Json
  headline: string
  risk: Risk
  verdict: Verdict
  requirement: Requirement
  votes: Vote[]
  digest: Digest
  created_at: Time
  expires_at: Time
  settled_at: TimeOrNull
  on_timeout: TimeoutAction
  timed_out: null | {
    action: TimeoutAction
  }
  reminders: {
    every_s: number | null
    max: number
    sent: number
  }
  escalation: {
    after_s: number | null
    to: string | null
    done: boolean
  }
  retries: {
    max: number
    done: number
  }
  context: JsonObject | null
  suggested: Json
  metadata: JsonObject | null
  decision: Decision | null
  release: Release | null
  message_for_agent: TextOrNull
  report: Report | null
  url: string
  held?: Held[]
  viewers?: Viewer[]
  snoozed_until?: Time
}
export type RequestList = {
  requests: Request[]
  next_cursor: string | null
}
export type Batch = {
  id: BatchId
  requests: Request[]
}
export type Timeline = {
  events: {
    seq: number
    type: EventName
    at: Time
    actor: TextOrNull
    via: TextOrNull
    address: TextOrNull
    detail: Json
  }[]
}
export type Event = {
  seq: number
  type: EventName
  at: Time
  actor: TextOrNull
  via: TextOrNull
  address: TextOrNull
  detail: Json
  request: Request
  approvalId?: RequestId
  toolName?: TextOrNull
  input?: Json
  message?: string
  result?: {
    success: boolean
    result?: Json
    error?: TextOrNull
    at?: Time
  }
}
export type Stats = {
  pending: number
  oldest_pending_at: TimeOrNull
  outcomes: {
    allowed: number
    denied: number
    approved: number
    modified: number
    rejected: number
    deferred: number
    aborted: number
    answered: number
    skipped: number
    expired: number
    cancelled: number
  }
  decided: number
  mean_decision_s: number | null
  waiters: number
  streams: number
  uptime_s: number
  version: string
}
export type Me = {
  id: PrincipalId
  name: Name
  role: Role
  groups: Groups
  owner: TextOrNull
}
export type NewKey = {
  id: KeyId
  role: Role
  name: Name
  key: string
  hint?: string
  groups?: Groups
  owner?: TextOrNull
  created_at?: Time
  expires_at?: TimeOrNull
  revoked_at?: null
}
export type Key = {
  id: KeyId
  name: Name
  role: Role
  groups: Groups
  owner: TextOrNull
  hint: string
  created_at: Time
  expires_at: TimeOrNull
  revoked_at: TimeOrNull
}
export type User = {
  id: PrincipalId
  name: Name
  role: Role
  groups: Groups
  owner: TextOrNull
  has_password: boolean
  disabled: boolean
  created_at: Time
}
export type Session = {
  name: Name
  role: 'approver' | 'auditor' | 'admin'
  csrf: string
  expires_at: Time
  undo_max_s: number
}
export type Link = {
  url: string
  expires_at: Time
}
export type Nothing = JsonObject
export type Base64Url = string
export type SessionEntry = {
  id: SessionId
  name: Name
  created_at: Time
  last_seen_at: Time
  expires_at: Time
  address: TextOrNull
  user_agent: TextOrNull
  current: boolean
}
export type SessionList = {
  sessions: SessionEntry[]
}
export type Held = {
  decision: DecisionKind
  by: string
  at: Time
  until: Time
  note: TextOrNull
  reason: TextOrNull
  guidance: TextOrNull
  target: TextOrNull
  arguments: Json
}
export type Viewer = {
  name: string
  since: Time
}
export type Viewers = {
  request: RequestId
  viewers: Viewer[]
}
export type PresenceCall = {
  looking?: boolean | null
}
export type SnoozeCall = {
  until: string | null
}
export type Similar = {
  id: RequestId
  headline: string
  state: State
  outcome: Outcome | null
  risk: RiskLevel
  arguments: JsonObject
  by: string | null
  created_at: Time
  settled_at: TimeOrNull
}
export type SimilarList = {
  similar: Similar[]
}
export type Passkey = {
  id: PasskeyId
  name: string
  created_at: Time
  last_used_at: TimeOrNull
  algorithm: 'ES256' | 'EdDSA' | 'RS256'
  backed_up: boolean
  transports: string[]
}
export type PasskeyList = {
  passkeys: Passkey[]
}
export type PasskeyName = {
  name: string
}
export type PasskeyCall = {
  name: string
  credential: NewCredential
}
export type NewCredential = {
  id: Base64Url
  type: 'public-key'
  response: {
    clientDataJSON: Base64Url
    attestationObject: Base64Url
    transports?: string[]
  }
}
export type Assertion = {
  id: Base64Url
  type: 'public-key'
  response: {
    clientDataJSON: Base64Url
    authenticatorData: Base64Url
    signature: Base64Url
    userHandle?: Base64Url | null
  }
}
export type CredentialDescriptor = {
  type: 'public-key'
  id: Base64Url
  transports: string[]
}
export type PasskeyCreateOptions = {
  publicKey: {
    rp: {
      id: string
      name: string
    }
    user: {
      id: Base64Url
      name: string
      displayName: string
    }
    challenge: Base64Url
    pubKeyCredParams: ({
      type: 'public-key'
      alg: -7 | -8 | -257
    })[]
    timeout: number
    excludeCredentials: CredentialDescriptor[]
    authenticatorSelection: {
      residentKey: 'required'
      requireResidentKey: true
      userVerification: 'required'
    }
    attestation: 'none'
  }
}
export type PasskeyGetOptions = {
  publicKey: {
    challenge: Base64Url
    timeout: number
    rpId: string
    allowCredentials: CredentialDescriptor[]
    userVerification: 'required'
  }
}
export type PushKey = {
  key: string
}
export type PushSubscription = {
  id: PushSubscriptionId
  name: string
  service: string
  created_at: Time
  last_sent_at: TimeOrNull
}
export type PushSubscriptionList = {
  subscriptions: PushSubscription[]
}
export type PushSubscriptionCall = {
  name?: string | null
  subscription: {
    endpoint: string
    expirationTime?: number | null
    keys: {
      p256dh: string
      auth: string
    }
  }
}
export type PushMessage = {
  web_push: 8030
  notification: {
    title: string
    body: string
    navigate: string
    tag: RequestId
    lang: 'en'
    silent: boolean
  }
  app_badge: number
  mutable: true
  holdpoint: {
    id: RequestId
    about: EventName
    state: State
    outcome: Outcome | null
    risk: RiskLevel
    digest: Digest
    expires_at: Time
    token: string | null
  }
}
export type PushDecisionCall = {
  token: string
  decision: 'approve' | 'reject'
}
export type AliasApproval = {
  id: RequestId
  toolName: Tool
  arguments: JsonObject
  requestedAt: Time
  sessionId: TextOrNull
  userPrompt: TextOrNull
}
export type AliasPending = {
  approvalId: RequestId
  threadId: TextOrNull
  eventIdToWaitFor: string
  toolName: Tool
  toolInput: JsonObject
  toolCallId: TextOrNull
  status: 'pending' | 'approved' | 'denied'
  createdAt: Time
  expiresAt: Time
}
export type AliasDecided = {
  success: true
  message: string
  request: Request
}
export type ErrorBody = {
  code: 'invalid_argument' | 'unauthenticated' | 'permission_denied' | 'not_found' | 'method_not_allowed' | 'conflict' | 'expired' | 'too_large' | 'unsupported_media_type' | 'refused' | 'rate_limited' | 'internal' | 'unavailable'
  message: string
  field?: string
  confirm?: string
  request?: Request
}
export type Error = {
  error: ErrorBody
}
