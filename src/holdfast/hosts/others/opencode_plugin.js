// Holdfast. Written by `holdfast setup --agent opencode`; `holdfast uninstall --agent opencode` removes it.
// Whatever goes wrong here, OpenCode goes on as if this file were not there.
import { spawn } from "node:child_process"

const PYTHON = "@PYTHON@"
const SCRIPT = "@SCRIPT@"
const SESSIONS = "@SESSIONS@"
const TIMEOUT_MS = 3000

// What the script prints; it ends itself after two seconds.
function run(event, payload) {
  return new Promise((resolve) => {
    let printed = ""
    const child = spawn(PYTHON, ["-I", "-S", SCRIPT, event, "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS)
    child.on("error", () => resolve(""))
    child.on("close", () => {
      clearTimeout(timer)
      resolve(printed)
    })
    child.stdin.on("error", () => {})
    child.stdout.on("data", (part) => (printed += part))
    child.stdin.end(JSON.stringify(payload))
  })
}

async function findBrief(session, folder) {
  try {
    const printed = await run("SessionStart", { session_id: session, cwd: folder, source: "startup" })
    return printed ? (JSON.parse(printed).additionalContext ?? "") : ""
  } catch {
    return ""
  }
}

export const Holdfast = async ({ directory }) => {
  const briefs = new Map()
  const subagents = new Set()
  return {
    event: async ({ event }) => {
      const about = event.properties ?? {}
      if (event.type === "session.created" && about.info?.parentID) subagents.add(about.info.id)
      if (event.type === "session.deleted") briefs.delete(about.info?.id)
      if (event.type === "session.idle" && !subagents.has(about.sessionID))
        await run("Stop", { session_id: about.sessionID, cwd: directory, transcript_path: SESSIONS })
    },
    // A session keeps the brief that it started with, so that its prompt stays the same and can be cached.
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      const isTitle = output.system.some((text) => text.startsWith("You are a title generator"))
      if (!sessionID || isTitle || subagents.has(sessionID)) return
      if (!briefs.has(sessionID)) briefs.set(sessionID, findBrief(sessionID, directory))
      const brief = await briefs.get(sessionID)
      if (brief) output.system.push(brief)
    },
  }
}
